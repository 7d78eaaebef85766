import { createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { parseArgs } from 'node:util';
import { exportJWK, type JWK } from 'jose';
import { fail, onTermination } from '../src/system/termination.ts';
import { DIALECT_NAMES, dialectNamed, DIALECTS } from './dialects.ts';
import type { NonceRule } from './proofs.ts';
import { DEMO_CLIENT, LOOPBACK, startSimulator } from './simulator.ts';

const USAGE = `npm run simulator -- [--port N] [--dialect D] [--client-key FILE] [--host ADDRESS]
                         [--nonce SERVERS] [--nonce-period MS]
  N        from 0 (any that is free) to 65535; 4010 if left out
  D        the API it has: ${DIALECT_NAMES.join(', ')}; 2.1 if left out
  FILE     the client's key in PEM, public or private; needed where the client signs assertions
  ADDRESS  where it listens; ${LOOPBACK}, only this machine, if left out
  SERVERS  tokens, lookups or both: each request must carry a proof of DPoP, and there it must name a nonce
  MS       how long a nonce is the current one, which counts like the one before; 60000 if left out, once: each counts once
`;

function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        port: { type: 'string', default: '4010' },
        dialect: { type: 'string', default: '2.1' },
        host: { type: 'string', default: LOOPBACK },
        'client-key': { type: 'string' },
        nonce: { type: 'string' },
        'nonce-period': { type: 'string' },
      },
    });
    const { host, 'client-key': clientKey } = values;
    const port = /^\d{1,5}$/.test(values.port) ? Number(values.port) : Number.NaN;
    const dialect = dialectNamed(values.dialect);
    const nonces = nonceRule(values.nonce, values['nonce-period']);
    return port <= 65_535 && dialect !== undefined && isIP(host) !== 0
      ? { port, host, dialect, clientKey, nonces }
      : fail(USAGE);
  } catch {
    return fail(USAGE);
  }
}

function nonceRule(at: string | undefined, given: string | undefined): NonceRule | undefined {
  if (at === undefined && given === undefined) return undefined;
  const period = given ?? '60000';
  const periodMs = Number(period);
  const isPeriod = period === 'once' || (Number.isInteger(periodMs) && periodMs > 0);
  if ((at !== 'tokens' && at !== 'lookups' && at !== 'both') || !isPeriod) return fail(USAGE);
  return { at, counts: period === 'once' ? 'once' : { periodMs } };
}

/** The public half of the client's key. */
async function readKey(file: string): Promise<JWK> {
  try {
    return await exportJWK(createPublicKey(readFileSync(file)));
  } catch {
    return fail(`${file} cannot be read, or is not a key in PEM.`);
  }
}

const { port, host, dialect, clientKey, nonces } = readArguments();
const { clientAuthentication } = DIALECTS[dialect];
if (clientAuthentication === 'private_key_jwt' && clientKey === undefined) {
  fail(`Clients of ${dialect} sign assertions: name the client's key with --client-key FILE.`);
}
const keys = clientKey === undefined ? undefined : { keys: [await readKey(clientKey)] };
const simulator = await startSimulator({
  port,
  host,
  dialect,
  ...(keys === undefined ? {} : { jwks: keys }),
  ...(nonces === undefined ? {} : { nonces }),
}).catch((error: unknown) => {
  const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
  return fail(
    isTaken
      ? `Port ${port} is in use. Choose another with --port, or 0 for any that is free.`
      : `The simulator cannot listen on ${host}, port ${port}.`,
  );
});

let isStopping = false;
const stop = (): void => {
  if (isStopping) return;
  isStopping = true;
  void simulator.close().then(() => process.exit(0));
};
onTermination(stop);
// Started by another program, it ends with that one.
process.on('disconnect', stop);
if (process.send !== undefined && !process.connected) stop();

if (host !== LOOPBACK && host !== '::1') {
  process.stderr.write(
    `WARNING: the simulator listens on ${host}, where others can reach it. It invents every answer: do not use them as an operator's.\n`,
  );
}
if (process.send === undefined) {
  process.stdout.write(
    [
      `The operator simulator listens. Settings for a server that uses it:`,
      `  OPERATOR_AUTH_URL=${simulator.authUrl}`,
      `  OPERATOR_SIM_SWAP_URL=${simulator.simSwapUrl}`,
      `  OPERATOR_CLIENT_ID=${DEMO_CLIENT.clientId}`,
      `  OPERATOR_CLIENT_SECRET=${DEMO_CLIENT.clientSecret}`,
      `What it has seen: curl ${simulator.authUrl}/stats\n`,
    ].join('\n'),
  );
} else {
  // Without a callback it would throw where that program has ended: 'disconnect' is enough.
  const { authUrl, simSwapUrl } = simulator;
  process.send({ authUrl, simSwapUrl }, undefined, undefined, () => undefined);
}
