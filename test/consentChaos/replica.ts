import { createServer } from 'node:http';
import { readConfig } from '../../src/config.ts';
import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import { LookupError } from '../../src/errors.ts';
import { createCorrelator } from '../../src/http/correlator.ts';
import { connectToRedis, createSimSwaps, openConsentStore } from '../../src/server.ts';
import { systemClock } from '../../src/systemClock.ts';
import { fieldsOf } from '../askedFields.ts';
import { silentLog } from '../silentLog.ts';

// One replica: all of the service below GraphQL, for whatever caller the request names.
const config = readConfig();
const [operator] = config.operators;
if (operator === undefined) throw new Error('A replica needs an operator.');
const parts = { config, operator, clock: systemClock, log: silentLog };
const store = await openConsentStore(parts, await connectToRedis(parts));
const simSwaps = createSimSwaps(operator, config.consent, { ...parts, store });

const server = createServer((request, response) => {
  const { searchParams } = new URL(request.url ?? '', 'http://replica');
  const caller = searchParams.get('caller') ?? '';
  const loader = simSwaps.forRequest({
    caller,
    purpose: 'fraud-prevention',
    correlator: createCorrelator(caller),
    signal: AbortSignal.timeout(config.requestTimeoutMs),
    deadlineMs: systemClock.monotonicMs() + config.requestTimeoutMs,
  });
  const number = searchParams.get('number') as PhoneNumber;
  void fieldsOf(loader)
    .lastSimSwap(number)
    .then(
      (date) => response.end(JSON.stringify({ date: date?.text })),
      (error: unknown) => {
        const failure = error instanceof LookupError ? error.failure : { code: 'DEFECT' };
        response.end(JSON.stringify({ failure }));
      },
    );
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address !== null) process.send?.(address.port);
});
// Whoever started it is gone.
process.on('disconnect', () => process.exit());
