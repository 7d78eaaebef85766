import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { AUDIT_TIMEOUT_MS } from '../../../src/caller/audit/auditLog.ts';
import { ServerProcess } from '../../endToEnd/serverProcess.ts';
import { answerNever, WiredOperator } from '../../wiredOperator.ts';
import { TestIssuer } from '../testIssuer.ts';

/** More numbers than have a permit at a time. */
const REQUESTS = 12;
const NUMBERS = 100;

const issuer = await TestIssuer.start();
afterAll(() => issuer.close());

function startServer(operator: WiredOperator, settings: Record<string, string>) {
  return ServerProcess.start(operator.url, {
    ...issuer.settings,
    AUDIT_LOG: join(mkdtempSync(join(tmpdir(), 'audit-')), 'audit.jsonl'),
    AUDIT_KEY: 'a-key-of-at-least-thirty-two-characters',
    ...settings,
  });
}

/** The codes of the errors that one request for many numbers comes to. */
async function codesOf(server: ServerProcess, first: number): Promise<readonly string[]> {
  const token = await issuer.token({ sub: `caller ${first}`, scope: 'sim-swap:read' });
  const e164s = Array.from({ length: NUMBERS }, (_, n) => `+4477009${10_000 + first + n}`);
  const query = 'query ($e164s: [ID!]!) { phoneNumbers(e164s: $e164s) { simSwappedWithin } }';
  return (await server.ask(query, { e164s }, { authorization: `Bearer ${token}` })).codes;
}

it.concurrent('is not blamed for an operator that takes all the time of a request', async () => {
  let answers = 0;
  await using operator = await WiredOperator.start({
    lookUp: (received, response) => {
      answers += 1;
      setTimeout(() => answerNever(received, response), 200 + (answers % 50));
    },
  });
  await using server = await startServer(operator, { REQUEST_TIMEOUT_MS: '1000' });
  const codes = await Promise.all(
    Array.from({ length: REQUESTS }, (_, index) => codesOf(server, index * NUMBERS)),
  );
  expect(codes.flat()).toContain('OPERATOR_TIMEOUT');
  expect(codes.flat()).not.toContain('AUDIT_UNAVAILABLE');
});

it.concurrent('is not blamed for a process that stalled', async ({ expect }) => {
  await using operator = await WiredOperator.start();
  await using server = await startServer(operator, {});
  const codes = Array.from({ length: REQUESTS }, (_, index) => codesOf(server, index * NUMBERS));
  await expect.poll(() => operator.lookups.length, { interval: 2 }).toBeGreaterThan(0);
  process.kill(server.pid, 'SIGSTOP');
  await sleep(AUDIT_TIMEOUT_MS + 500);
  process.kill(server.pid, 'SIGCONT');
  expect((await Promise.all(codes)).flat()).not.toContain('AUDIT_UNAVAILABLE');
});
