import { readdir, readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { ProbeFigures } from '../long/probe.ts';
import { ProbedProgram } from '../long/probedProgram.ts';
import type { Exit } from '../program.ts';

const PROBE = new URL('../long/probe.ts', import.meta.url).href;
/** A reply that is not there by then never comes. */
const HANGS_AFTER_MS = 12_000;
const MEGABYTE = 1024 * 1024;

/** A request for the page of the explorer. */
export const PAGE = 'GET /graphql HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: text/html\r\n\r\n';

export interface TargetOptions {
  /** Flags of Node's beside those of `npm start`, such as a limit for the heap. */
  readonly flags?: readonly string[];
}

export interface Ask {
  readonly variables?: unknown;
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A reply of the attacked service; `status` 0 where none came. */
export interface Reply {
  readonly status: number;
  readonly bytes: number;
  readonly text: string;
  readonly tookMs: number;
  readonly data: Readonly<Record<string, unknown>> | null | undefined;
  readonly codes: readonly string[];
  readonly extensions: readonly Readonly<Record<string, unknown>>[];
}

/** The server as people start it, in a process of its own, with a probe inside. */
export class Target extends ProbedProgram {
  url = '';
  readonly #agent = new Agent({ connections: 128, headersTimeout: 0, bodyTimeout: 0 });

  /** Resolves when it serves; rejects with what it said when it ends before. */
  static async start(
    settings: Readonly<Record<string, string>>,
    { flags = [] }: TargetOptions = {},
  ): Promise<Target> {
    const words = ['--expose-gc', '--import', PROBE, ...flags, 'src/main.ts'];
    const target = new Target('scripts/node', words, { PORT: '0', ...settings });
    target.url = await target.serves();
    return target;
  }

  get output(): string {
    return this.out + this.err;
  }

  linesWith(text: string): number {
    return this.output.split('\n').filter((line) => line.includes(text)).length;
  }

  get errorLines(): number {
    return this.output.split('\n').filter((line) => /"level":(?:50|60|"error"|"fatal")/.test(line))
      .length;
  }

  ask(query: string, { variables, ...rest }: Ask = {}): Promise<Reply> {
    return this.post(JSON.stringify({ query, variables }), rest);
  }

  async post(
    body: string | Buffer,
    { token, headers }: Omit<Ask, 'variables'> = {},
  ): Promise<Reply> {
    const sentAtMs = performance.now();
    try {
      const { statusCode, body: reply } = await request(`${this.url}/graphql`, {
        dispatcher: this.#agent,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...headers,
        },
        body,
        signal: AbortSignal.timeout(HANGS_AFTER_MS),
      });
      const text = await reply.text();
      return replyOf(statusCode, text, performance.now() - sentAtMs);
    } catch {
      return replyOf(0, '', performance.now() - sentAtMs);
    }
  }

  /** The status of a path, 0 where there is no answer in two seconds. */
  async statusOf(path: string): Promise<number> {
    try {
      const { statusCode, body } = await request(`${this.url}${path}`, {
        dispatcher: this.#agent,
        signal: AbortSignal.timeout(2000),
      });
      await body.dump();
      return statusCode;
    } catch {
      return 0;
    }
  }

  async grownMb(before: ProbeFigures): Promise<number> {
    return grownMb(before, await this.figures());
  }

  async fileDescriptors(): Promise<number> {
    return (await readdir(`/proc/${this.pid}/fd`)).length;
  }

  /** The same once they are no more than so many, or when the time is over. */
  async fileDescriptorsAtMost(limit: number, withinMs: number): Promise<number> {
    const givesUpAtMs = performance.now() + withinMs;
    for (;;) {
      const open = await this.fileDescriptors();
      if (open <= limit || performance.now() > givesUpAtMs) return open;
      await sleep(250);
    }
  }

  /** Connections that send this each, and read nothing. */
  stalled(count: number, textOf: (index: number) => string): readonly Socket[] {
    return Array.from({ length: count }, (_, index) => {
      const socket = connect(Number(new URL(this.url).port), '127.0.0.1');
      socket.on('error', () => undefined).pause();
      socket.write(textOf(index));
      return socket;
    });
  }

  async resident(): Promise<{ readonly peakBytes: number; readonly nowBytes: number }> {
    const status = await readFile(`/proc/${this.pid}/status`, 'utf8');
    const bytes = (name: string): number =>
      Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * 1024;
    return { peakBytes: bytes('VmHWM'), nowBytes: bytes('VmRSS') };
  }

  /** Asks it to end, and waits so long; `undefined` when it has not, and then it is killed. */
  async terminate(withinMs: number): Promise<Exit | undefined> {
    // Our own connections are no reason to wait.
    void this.#agent.destroy();
    this.signal('SIGTERM');
    const ended = await Promise.race([this.exit, sleep(withinMs, undefined, { ref: false })]);
    if (ended === undefined) await this.kill();
    return ended;
  }

  async kill(): Promise<void> {
    void this.#agent.destroy();
    await this[Symbol.asyncDispose]();
  }
}

export function grownMb(before: ProbeFigures, after: ProbeFigures): number {
  return (bytesOf(after) - bytesOf(before)) / MEGABYTE;
}

function bytesOf({ heapBytes, externalBytes }: ProbeFigures): number {
  return heapBytes + externalBytes;
}

interface Body {
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly errors?: readonly { readonly extensions?: Readonly<Record<string, unknown>> }[];
}

function replyOf(status: number, text: string, tookMs: number): Reply {
  const { data, errors = [] } = parsed(text);
  const extensions = errors.map((one) => one.extensions ?? {});
  return {
    status,
    bytes: Buffer.byteLength(text),
    text,
    tookMs,
    data,
    codes: extensions.map(({ code }) => (typeof code === 'string' ? code : 'no code')),
    extensions,
  };
}

function parsed(text: string): Body {
  try {
    return (JSON.parse(text) as Body | null) ?? {};
  } catch {
    return {};
  }
}
