import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Agent, request } from 'undici';
import { freePort } from '../freePort.ts';
import type { ProbeFigures } from '../long/probe.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PROBE = new URL('../long/probe.ts', import.meta.url).href;
const STARTS_WITHIN_MS = 30_000;
const TELLS_WITHIN_MS = 10_000;
/** A reply that is not there by then never comes. */
const HANGS_AFTER_MS = 12_000;
const MEGABYTE = 1024 * 1024;
/** What is kept of either output; a flood of lines must not fill our own memory. */
const MAX_OUTPUT_CHARACTERS = 8_000_000;

/** How an attacked process is started, beside its settings. */
export interface TargetOptions {
  /** Flags of Node's beside those of `npm start`, such as a limit for the heap. */
  readonly flags?: readonly string[];
}

/** How a process ended; `undefined` while it has not. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** What is sent, beside the document. */
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
export class Target {
  readonly url: string;
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #agent = new Agent({ connections: 128, headersTimeout: 0, bodyTimeout: 0 });
  #exit: Exit | undefined;
  readonly #exited: Promise<Exit>;
  #output = '';
  #errors = '';
  private constructor(url: string, child: ChildProcess) {
    this.url = url;
    this.#child = child;
    this.pid = child.pid ?? 0;
    this.#exited = once(child, 'exit').then(([code, signal]): Exit => {
      this.#exit = { code, signal };
      return this.#exit;
    });
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#output = (this.#output + text).slice(-MAX_OUTPUT_CHARACTERS);
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#errors = (this.#errors + text).slice(-MAX_OUTPUT_CHARACTERS);
    });
    child.stdout?.on('error', () => undefined);
    // A message to a process that has just died.
    child.on('error', () => undefined);
  }

  /** Resolves when it serves; rejects with what it said when it ends before. */
  static async start(
    settings: Readonly<Record<string, string>>,
    { flags = [] }: TargetOptions = {},
  ): Promise<Target> {
    const port = await freePort();
    const { PATH = '', HOME = '' } = process.env;
    const child = spawn(
      process.execPath,
      [...flagsOfNpmStart(), '--expose-gc', '--import', PROBE, ...flags, 'src/main.ts'],
      {
        cwd: ROOT,
        env: { PATH, HOME, PORT: String(port), ...settings },
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      },
    );
    const target = new Target(`http://127.0.0.1:${port}`, child);
    const givesUpAtMs = performance.now() + STARTS_WITHIN_MS;
    while ((await target.statusOf('/livez')) !== 200) {
      if (target.#exit !== undefined || performance.now() > givesUpAtMs) {
        child.kill('SIGKILL');
        throw new Error(`The server did not start: ${target.output.slice(-2000)}`);
      }
      await sleep(20);
    }
    return target;
  }

  /** All that it wrote, on either output. */
  get output(): string {
    return this.#output + this.#errors;
  }

  get exit(): Exit | undefined {
    return this.#exit;
  }

  /** How often a line of the log has this text. */
  linesWith(text: string): number {
    return this.output.split('\n').filter((line) => line.includes(text)).length;
  }

  /** Lines of the log that are errors. */
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

  /** Starts to count the event loop's delay again, from zero. */
  resetDelay(): void {
    this.#child.send('reset');
  }

  /** What it holds now, garbage aside; rejects when it does not tell. */
  async figures(): Promise<ProbeFigures> {
    const told = once(this.#child, 'message', { signal: AbortSignal.timeout(TELLS_WITHIN_MS) });
    if (this.#child.connected) this.#child.send('figures');
    const [figures] = (await told) as [ProbeFigures];
    return figures;
  }

  /** By how many megabytes its memory has grown since then. */
  async grownMb(before: ProbeFigures): Promise<number> {
    return grownMb(before, await this.figures());
  }

  async fileDescriptors(): Promise<number> {
    return (await readdir(`/proc/${this.pid}/fd`)).length;
  }

  /** The most memory that it ever had, and what it has now. */
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
    this.#child.kill('SIGTERM');
    const ended = await Promise.race([this.#exited, sleep(withinMs, undefined, { ref: false })]);
    if (ended === undefined) await this.kill();
    return ended;
  }

  async kill(): Promise<void> {
    if (this.#exit === undefined) this.#child.kill('SIGKILL');
    void this.#agent.destroy();
    await this.#exited;
  }
}

/** By how many megabytes memory has grown. */
export function grownMb(before: ProbeFigures, after: ProbeFigures): number {
  return (bytesOf(after) - bytesOf(before)) / MEGABYTE;
}

function bytesOf({ heapBytes, externalBytes }: ProbeFigures): number {
  return heapBytes + externalBytes;
}

/** The flags by which `npm start` runs Node; a `.env` of this checkout is not read. */
function flagsOfNpmStart(): readonly string[] {
  const script = readFileSync(`${ROOT}/scripts/node`, 'utf8').replaceAll('\\\n', ' ');
  const [, flags] = /^exec node (.*) \$settings /m.exec(script) ?? [];
  if (flags === undefined)
    throw new Error('scripts/node runs Node in a way that is not known here.');
  return flags.trim().split(/\s+/);
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
