import { createServer, type Socket } from 'node:net';
import { totalmem } from 'node:os';
import { expect, test } from 'vitest';
import { youngGenerationBytes } from '../../src/config/loadLimits.ts';
import { TestIssuer } from '../caller/testIssuer.ts';
import { IS_LONG } from '../support/forms.ts';
import { listen } from '../support/listening.ts';
import { TOKEN_MARK, WiredOperator } from '../support/wiredOperator.ts';
import { Target } from './target.ts';

/** Every secret of the settings begins with it, so that one search finds all leaks. */
export const SECRET_MARK = 'kept-secret';

export const AUDIT_KEY = `${SECRET_MARK}-of-the-audit-log-01234567456789`;

/** The container of deploy/, and the heap that V8 chooses in it: requests have as much of it here. */
const CONTAINER_BYTES = 512 * 2 ** 20;
const HEAP_FLAGS = [`--max-old-space-size=${CONTAINER_BYTES / 2 ** 21}`];

/** The memory of that container, and what the young generation takes more on this machine. */
export const MAX_RESIDENT_MB =
  (CONTAINER_BYTES + youngGenerationBytes(totalmem()) - youngGenerationBytes(CONTAINER_BYTES)) /
  2 ** 20;

/** Short, so that a drain ends soon. */
const REQUEST_TIMEOUT_MS = 4000;

/** A drain allows requests their time and a second for bytes; the rest is for a loaded machine. */
const ENDS_WITHIN_MS = REQUEST_TIMEOUT_MS + 8000;

/** What is left of thousands of connections takes a slow machine as long. */
const SERVES_WITHIN_MS = 60_000;

/** A number in any spelling. */
const NUMBER = /(?:\+|00|tel:\+?)?44[\s.-]?7700[\s.-]?900\d{3}/;

/** A longer attack hangs, which fails too. */
const MAX_ATTACK_MS = 300_000;

/**
 * One way to break in, to read another caller's data, to make the service hang or to make it pay, judged by the memory,
 * event loop, descriptors, log and end of a running service.
 */
export function attack(name: string, carryOut: (stage: Stage) => Promise<void>): void {
  test.skipIf(!IS_LONG).each([name])(
    '%s',
    async () => {
      await using stage = new Stage();
      await carryOut(stage);
      expect(stage.targets).not.toEqual([]);
      await Promise.all(stage.targets.map(judge));
    },
    MAX_ATTACK_MS,
  );
}

/** The servers of an attack, which end with it. */
export class Stage implements AsyncDisposable {
  readonly targets: Target[] = [];
  readonly #closing = new AsyncDisposableStack();

  async serve(
    operator: WiredOperator,
    settings: Readonly<Record<string, string>> = {},
    flags: readonly string[] = [],
  ): Promise<Target> {
    const common = { REQUEST_TIMEOUT_MS: String(REQUEST_TIMEOUT_MS), ...operator.settings };
    const target = await Target.start({ ...common, ...settings }, [...HEAP_FLAGS, ...flags]);
    this.targets.push(target);
    return target;
  }

  /** A server with an issuer of its callers' tokens. */
  async callers(settings: Readonly<Record<string, string>> = {}, flags: readonly string[] = []) {
    const issuer = await this.issuer();
    const known = { ...issuer.settings, AUDIT_KEY };
    const target = await this.serve(await this.operator(), { ...known, ...settings }, flags);
    return { issuer, target };
  }

  async operator(): Promise<WiredOperator> {
    const operator = await WiredOperator.start();
    // Offences after hostile replies do not count.
    this.#closing.defer(() => operator[Symbol.asyncDispose]().catch(() => undefined));
    return operator;
  }

  /** An issuer of callers' tokens; its `settings` and {@link AUDIT_KEY} make a server know its callers. */
  async issuer(): Promise<TestIssuer> {
    const issuer = await TestIssuer.start();
    this.#closing.defer(() => issuer.close());
    return issuer;
  }

  /** The address of a server that answers connections so, in place of a Redis. */
  async impostor(answer: (socket: Socket) => void): Promise<URL> {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      answer(socket);
    });
    const address = await listen(server);
    this.#closing.defer(() => void server.close());
    return new URL(address);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const target of this.targets) await target[Symbol.asyncDispose]();
    await this.#closing.disposeAsync();
  }
}

/** What must hold after every attack: all serve, all end on SIGTERM, none discloses secrets. */
async function judge(target: Target): Promise<void> {
  // It may still be busy.
  const patience = { message: 'serves on', timeout: SERVES_WITHIN_MS };
  await expect.poll(() => target.statusOf('/livez'), patience).toBe(200);
  const exit = await target.terminate(ENDS_WITHIN_MS);
  isEqual('ends on SIGTERM', exit, { code: 0, signal: null });
  const { output } = target;
  isEqual('a secret in its output', lineWith(output, SECRET_MARK), undefined);
  isEqual('a token in its output', lineWith(output, TOKEN_MARK), undefined);
  isEqual('a number in its output', lineWith(output, NUMBER), undefined);
  isEqual('a stack in its output', lineWith(output, /^\s+at .+:\d+:\d+\)?$/), undefined);
}

export function isEqual(what: string, value: unknown, expected: unknown): void {
  expect.soft(value, what).toEqual(expected);
}

export function isAtMost(what: string, value: number, limit: number): void {
  expect.soft(value, what).toBeLessThanOrEqual(limit);
}

function lineWith(output: string, part: string | RegExp): string | undefined {
  const line = output.split('\n').find((one) => one.search(part) >= 0);
  return line?.slice(0, 160);
}
