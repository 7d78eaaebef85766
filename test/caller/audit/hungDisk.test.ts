import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, it } from 'vitest';
import { ServerProcess } from '../../endToEnd/serverProcess.ts';
import { WiredOperator } from '../../support/wiredOperator.ts';
import { TestIssuer } from '../testIssuer.ts';
import { temporaryFolder } from '../../support/temporary.ts';

/** More than libuv has threads. */
const REQUESTS = 8;

/** So that a drain's limit is some seconds. */
const SHORT = { REQUEST_TIMEOUT_MS: '1000', OPERATOR_TIMEOUT_MS: '200' };

const issuer = await TestIssuer.start();
const operator = await WiredOperator.start();
afterAll(async () => {
  await issuer.close();
  await operator[Symbol.asyncDispose]();
});

const AUDIT_KEY = 'a-key-of-at-least-thirty-two-characters';

function startServer(settings: Record<string, string> = {}, { url } = operator) {
  return ServerProcess.start(url, { ...issuer.settings, AUDIT_KEY, ...settings });
}

/** The answer, or the code of its error. Each has a token of its own, for the server to verify. */
async function ask(server: ServerProcess, subject: string, times = 1): Promise<unknown> {
  const token = await issuer.token({ sub: subject, scope: 'sim-swap:read' });
  const numbers = Array.from(
    { length: times },
    (_, n) => `phoneNumber${n}: phoneNumber(e164: "+44770090${5000 + n}") { simSwappedWithin }`,
  );
  const headers = { authorization: `Bearer ${token}` };
  const signal = AbortSignal.timeout(8000);
  const { data, codes } = await server.ask(`{ ${numbers.join(' ')} }`, {}, headers, signal);
  return codes[0] ?? data.phoneNumber0.simSwappedWithin;
}

/** A pipe as the file: opening it hangs without a reader, and writing to it hangs while it is full. */
function makePipe(): string {
  const path = join(temporaryFolder(), 'audit.pipe');
  execFileSync('mkfifo', [path]);
  return path;
}

/** A reader of a pipe, so that it can be opened. */
class PipeReader implements Disposable {
  readonly #fd: number;

  constructor(path: string) {
    this.#fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  }

  fill(): void {
    const block = Buffer.alloc(4096, '\n');
    while (this.#try(() => writeSync(this.#fd, block)) > 0);
  }

  drain(): string {
    const block = Buffer.alloc(65_536);
    let text = '';
    for (let read = 1; read > 0; text += block.toString('utf8', 0, read)) {
      read = this.#try(() => readSync(this.#fd, block));
    }
    return text.trim();
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
  }

  #try(act: () => number): number {
    try {
      return act();
    } catch {
      return 0;
    }
  }
}

// At the same time: most of it is waiting.
describe('an audit log that cannot be written', { concurrent: true }, () => {
  it('costs one request two seconds while its disk hangs, and is used again once the disk is back', async ({
    expect,
  }) => {
    const path = makePipe();
    await using unasked = await WiredOperator.start();
    await using server = await startServer({ AUDIT_LOG: path }, unasked);
    expect(await ask(server, 'the first')).toBe('AUDIT_UNAVAILABLE');
    const startedAtMs = performance.now();
    for (let n = 0; n < REQUESTS; n += 1) {
      expect(await ask(server, `caller ${n}`)).toBe('AUDIT_UNAVAILABLE');
    }
    expect(performance.now() - startedAtMs).toBeLessThan(REQUESTS * 2000);
    expect(unasked.lookups).toEqual([]);

    using pipe = new PipeReader(path);
    await expect.poll(() => ask(server, 'after'), { timeout: 10_000 }).toBe(false);
    expect(pipe.drain()).toContain('"audit":"before"');
  }, 60_000);

  it('lets requests end in their time while a write hangs; SIGTERM ends the process, not with 0, and the log says so', async ({
    expect,
  }) => {
    const path = makePipe();
    using pipe = new PipeReader(path);
    pipe.fill();
    await using server = await startServer({ AUDIT_LOG: path, ...SHORT });
    const askedAtMs = performance.now();
    const codes = await Promise.all(Array.from({ length: 6 }, () => ask(server, 'risk')));
    expect(performance.now() - askedAtMs).toBeLessThan(Number(SHORT.REQUEST_TIMEOUT_MS) + 4000);
    for (const code of codes) {
      expect(['AUDIT_UNAVAILABLE', 'UNAVAILABLE', 'OPERATOR_TIMEOUT']).toContain(code);
    }
    await expect.poll(() => ask(server, 'risk')).toBe('AUDIT_UNAVAILABLE');
    server.terminate();
    expect((await server.exit).code).not.toBe(0);
    await expect
      .poll(() => server.logged('The process did not end after its drain: the process is killed.'))
      .toHaveLength(1);
    expect(server.logged('Drained.')).toHaveLength(1);
    expect(server.logged('The drain did not end in time: the process is killed.')).toEqual([]);
  }, 60_000);

  it('lets SIGTERM end a process whose standard output is not read', async ({ expect }) => {
    await using server = await startServer(SHORT);
    server.stdout.pause();
    const codes = new Set<unknown>();
    while (!codes.has('AUDIT_UNAVAILABLE')) codes.add(await ask(server, 'risk', 100));
    server.terminate();
    expect((await server.exit).code).not.toBe(0);
  }, 120_000);

  it('on a standard output that was closed: nothing reaches the operator without its line, and the server goes on', async ({
    expect,
  }) => {
    await using server = await startServer();
    expect(await ask(server, 'before')).toBe(false);
    server.stdout.destroy();
    for (let n = 0; n < 3; n += 1) expect(await ask(server, 'after')).toBe('AUDIT_UNAVAILABLE');
    expect((await fetch(`${server.url}/livez`)).status).toBe(200);
  }, 30_000);
});
