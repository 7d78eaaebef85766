import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { withEntry } from './operatorEntry.ts';

const PROJECT = fileURLToPath(new URL('..', import.meta.url));

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Run extends Exit {
  readonly out: string;
  readonly err: string;
}

/** What becomes of a program's start, where it matters. */
export interface ProgramOptions {
  /** In a process group of its own, as a terminal starts it: signals go to all of it, or to its first. */
  readonly hasOwnGroup?: boolean;
  /** Where it starts; the project where absent. */
  readonly folder?: string;
  /** What it reads at its standard input, at once or bit by bit; nothing where absent. */
  readonly input?: string | Readable | undefined;
  readonly hasChannel?: boolean;
}

/** A program in a process of its own, with these settings and no others. */
export class Program implements AsyncDisposable {
  out = '';
  err = '';
  readonly pid: number;
  /** A test may stop reading it, or close it. */
  readonly stdout: Readable;
  readonly exit: Promise<Exit>;
  /** The same, once everything that it started has ended too: they share its output. */
  readonly ended: Promise<Exit>;
  protected readonly child: ChildProcess;
  readonly #hasOwnGroup: boolean;

  constructor(
    command: string,
    words: readonly string[],
    settings: Readonly<Record<string, string>>,
    { hasOwnGroup = false, folder = PROJECT, input, hasChannel = false }: ProgramOptions = {},
  ) {
    // The cache halves what the start of a server costs.
    const { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE } = process.env;
    const child = spawn(command, words, {
      cwd: folder,
      detached: hasOwnGroup,
      env: { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE, ...withEntry(settings) },
      stdio: ['pipe', 'pipe', 'pipe', ...(hasChannel ? (['ipc'] as const) : [])],
    });
    const { stdin, stdout, stderr } = child;
    if (stdin === null || stdout === null || stderr === null) throw new Error('It has no pipes.');
    // It may end without reading.
    stdin.on('error', () => undefined);
    if (typeof input === 'object') input.pipe(stdin);
    else stdin.end(input);
    this.child = child;
    this.#hasOwnGroup = hasOwnGroup;
    this.pid = child.pid ?? 0;
    this.stdout = stdout;
    stdout.setEncoding('utf8').on('data', (text: string) => (this.out += text));
    stderr.setEncoding('utf8').on('data', (text: string) => (this.err += text));
    this.exit = once(child, 'exit').then(([code, signal]): Exit => ({ code, signal }));
    this.ended = once(child, 'close').then(([code, signal]): Exit => ({ code, signal }));
  }

  /** A file of the project, run by this Node. */
  static node(
    words: readonly string[],
    settings: Readonly<Record<string, string>> = {},
    input?: string | Readable,
  ): Program {
    return new Program(process.execPath, words, settings, { input });
  }

  static async run(...started: ConstructorParameters<typeof Program>): Promise<Run> {
    return new Program(...started).#toItsEnd();
  }

  static async runNode(
    words: readonly string[],
    settings: Readonly<Record<string, string>> = {},
  ): Promise<Run> {
    return Program.node(words, settings).#toItsEnd();
  }

  /** Resolves to the first match in what it wrote to its standard output; fails when it ends without. */
  async written(pattern: RegExp): Promise<RegExpExecArray> {
    const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>();
    const look = (): void => {
      const found = pattern.exec(this.out);
      if (found !== null) resolve(found);
    };
    this.stdout.on('data', look);
    void this.ended.then(() => reject(new Error(`It ended without ${pattern}: ${this.err}`)));
    look();
    try {
      return await promise;
    } finally {
      this.stdout.off('data', look);
    }
  }

  /** Resolves to the address of a service, once it listens. */
  async serves(): Promise<string> {
    const [line] = await this.written(/^.*"msg":"listening".*(?=\n)/m);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the service logs it
    const { port } = JSON.parse(line) as { readonly port: number };
    return `http://127.0.0.1:${port}`;
  }

  /** The lines that it has written whole. */
  get lines(): readonly string[] {
    return this.out.split('\n').slice(0, -1);
  }

  /** As a container's runtime and a service manager do: only it gets the signal. */
  signal(signal: NodeJS.Signals): void {
    this.#send(this.pid, signal);
  }

  /** As a terminal does on Ctrl-C: it, and what it started in its group, get the signal. */
  signalGroup(signal: NodeJS.Signals): void {
    this.#send(-this.pid, signal);
  }

  /** Ends it, and all of its group, however it is doing. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#send(this.#hasOwnGroup ? -this.pid : this.pid, 'SIGKILL');
    // What is not read would keep it from being over.
    this.stdout.destroy();
    this.child.stderr?.destroy();
    await this.ended;
  }

  async #toItsEnd(): Promise<Run> {
    const exit = await this.ended;
    return { ...exit, out: this.out, err: this.err };
  }

  #send(pid: number, signal: NodeJS.Signals): void {
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended.
    }
  }
}
