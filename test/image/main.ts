import { deepEqual, equal, ok } from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { TestIssuer } from '../caller/testIssuer.ts';
import { freePort } from '../support/freePort.ts';
import { answerNever, WiredOperator } from '../support/wiredOperator.ts';
import { buildImage, Container } from './image.ts';

// `npm run test:image`: builds the image, runs it and queries it. Needs root, buildah, and the image that the
// Dockerfile begins with in buildah's store; scripts/standInBaseImage.sh makes one where no registry is to
// be had.

const IN_FLIGHT = 200;
const STARTS_WITHIN_MS = 30_000;
const AUDIT_LOG = '/tmp/audit.jsonl';
const NODE_USER_ID = 1000;

const image = await buildImage('sim-swap-subgraph');
const { config, bytes, baseBytes } = image;
say(
  'the image',
  `${Math.round(bytes / 1e6)} MB, ${Math.round((bytes - baseBytes) / 1e6)} of them ours`,
);
equal(config.user, 'node');
equal(config.environment['NODE_ENV'], 'production');

await using issuer = disposable(await TestIssuer.start(), (one) => one.close());
await using operator = await WiredOperator.start();
const port = await freePort();
const settings = {
  ...issuer.value.settings,
  ...operator.settings,
  OPERATOR_TIMEOUT_MS: '60000',
  // The network is this machine's: elsewhere 0.0.0.0, the image's own, is right.
  HOST: '127.0.0.1',
  PORT: String(port),
  AUDIT_KEY: 'a-key-of-at-least-thirty-two-characters',
  AUDIT_LOG,
  REQUEST_TIMEOUT_MS: '60000',
};

await withoutSettings();

await using container = await Container.start(image, settings);
const url = `http://127.0.0.1:${port}`;
await ready(url);
equal(container.userId, NODE_USER_ID);
say('runs as', `user ${container.userId}`);

const token = await issuer.value.token({ scope: 'sim-swap:read' });
const pool = new Pool(url, { connections: IN_FLIGHT });
equal(await ask('+447700900500'), false);
say('answers', 'false for a line that never changed its SIM');

equal(await container.exec(config.healthCheck, settings), 0);
equal(await container.exec(config.healthCheck, { ...settings, PORT: String(await freePort()) }), 1);
say('the health check', 'succeeds for a service that runs, fails without one');

const held: (() => void)[] = [];
operator.script = {
  lookUp: (received, response) => {
    held.push(() => answerNever(received, response));
  },
};
const inFlight = Array.from({ length: IN_FLIGHT }, (_, index) =>
  ask(`+447700900${String(index).padStart(3, '0')}`),
);
await until(() => held.length === IN_FLIGHT, 'the lookups to be under way');
const ended = container.terminate();
await until(async () => (await statusOf(`${url}/readyz`)) !== 200, 'it to say that it drains');
for (const answer of held) answer();
deepEqual(new Set(await Promise.all(inFlight)), new Set([false]));
equal(await ended, 0);
say('SIGTERM under load', `${IN_FLIGHT} requests in flight, ${IN_FLIGHT} answered, exit code 0`);
await pool.destroy();

const written = await container.written();
const elsewhere = written.filter((path) => !/^\/tmp(?:\/|$)/.test(path));
deepEqual(elsewhere, []);
ok(written.includes(AUDIT_LOG));
say('it wrote', written.filter((path) => path !== '/tmp').join(', '));
process.stdout.write('the image holds\n');

/** The image's own NODE_ENV must keep a container without settings from answering out of the simulator. */
async function withoutSettings(): Promise<void> {
  await using bare = await Container.start(image, {});
  await until(() => bare.output.includes('attention:'), 'it to say what is missing');
  ok(bare.output.includes('OPERATOR_AUTH_URL is missing'));
  ok(bare.output.includes('JWT_JWKS_URL is missing'));
  say('without settings', 'it does not start, and lists what is missing');
}

async function ask(number: string): Promise<unknown> {
  const { statusCode, body } = await pool.request({
    path: '/graphql',
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({
      query: 'query ($number: ID!) { phoneNumber(e164: $number) { simSwappedWithin } }',
      variables: { number },
    }),
  });
  const reply = (await body.json()) as {
    readonly data?: { readonly phoneNumber?: { readonly simSwappedWithin?: boolean | null } };
  };
  equal(statusCode, 200, JSON.stringify(reply));
  return reply.data?.phoneNumber?.simSwappedWithin;
}

function ready(at: string): Promise<void> {
  return until(async () => (await statusOf(`${at}/readyz`)) === 200, 'the service to be ready');
}

async function statusOf(address: string): Promise<number> {
  try {
    return (await fetch(address)).status;
  } catch {
    return 0;
  }
}

async function until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const givesUpAtMs = performance.now() + STARTS_WITHIN_MS;
  while (!(await isSo())) {
    if (performance.now() > givesUpAtMs) throw new Error(`Waited in vain for ${what}.`);
    await sleep(20);
  }
}

function disposable<T>(value: T, close: (value: T) => Promise<void>) {
  return { value, [Symbol.asyncDispose]: () => close(value) };
}

function say(what: string, figure: string): void {
  process.stdout.write(`  ${what.padEnd(20)} ${figure}\n`);
}
