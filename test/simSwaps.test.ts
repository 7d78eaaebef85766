import { expect, it } from 'vitest';
import { answerJson } from './http/recordingServer.ts';
import { DEMO_ENTRY, startServiceOf } from './operatorsFile.ts';
import { WiredOperator } from './wiredOperator.ts';

function entry(name: string, prefix: string, { url }: WiredOperator, flow = '2-legged'): object {
  return { name, prefixes: [prefix], flow, authUrl: url, simSwapUrl: url, client: DEMO_ENTRY };
}

const line = (n: number) => `+4477009${String(n).padStart(5, '0')}`;
const ASK =
  'query ($e164: ID!) { phoneNumber(e164: $e164) { simSwappedWithin simSwapConsent { state } } }';

it('an operator that fails gets no further requests, and the other one does', async () => {
  await using broken = await WiredOperator.start({
    token: (received, response) => answerJson(received, response, {}, 503),
  });
  await using well = await WiredOperator.start();
  await using service = await startServiceOf([
    entry('broken', '+4477009', broken),
    entry('well', '+4477009005', well),
  ]);
  const ask = (n: number) => service.ask(ASK, { e164: line(n) });

  // One after the other: the circuit opens after twenty exchanges about five numbers or more.
  for (let index = 0; index < 30; index += 1) await ask(index);
  const reached = broken.received.length;
  expect((await ask(1)).codes).toEqual(['OPERATOR_UNAVAILABLE']);

  expect(broken.received).toHaveLength(reached);
  expect(reached).toBeLessThan(30);
  expect((await ask(500)).data.phoneNumber.simSwappedWithin).toBe(false);
});

it('a number that no operator serves is NUMBER_NOT_SERVED without a call, its consent as well', async () => {
  await using operator = await WiredOperator.start();
  await using service = await startServiceOf([entry('other', '+33', operator, '3-legged')]);

  const { codes } = await service.ask(ASK, { e164: line(1) });

  expect(codes).toEqual(['NUMBER_NOT_SERVED', 'NUMBER_NOT_SERVED']);
  expect(operator.received).toEqual([]);
});
