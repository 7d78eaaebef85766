import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { withEntry } from './operatorEntry.ts';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Run extends Exit {
  readonly out: string;
  readonly err: string;
}

export interface ProgramOptions {
  /** In a process group of its own, as a terminal starts it. */
  readonly hasOwnGroup?: boolean;
  /** Where it starts; the project where absent. */
  readonly folder?: string;
  /** Its standard input, at once or bit by bit; empty where absent. */
  readonly input?: string | Readable | undefined;
  readonly hasChannel?: boolean;
}

/** A program in a process of its own, with only these settings. */
export class Program implements AsyncDisposable {
  out = '';
  err = '';
  readonly pid: number;
  /** A test may stop reading it, or close it. */
  readonly stdout: Readable;
  readonly exit: Promise<Exit>;
  /** The same, once all that it started and that share its output have ended. */
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
    const [line] = await this.written(/^.*"msg":"Listening.".*(?=\n)/m);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the service logs it
    const { port } = JSON.parse(line) as { readonly port: number };
    return `http://127.0.0.1:${port}`;
  }

  /** The lines that it has written whole. */
  get lines(): readonly string[] {
    return this.out.split('\n').slice(0, -1);
  }

  /** To the process only, as container runtimes and service managers do. */
  signal(signal: NodeJS.Signals): void {
    this.#send(this.pid, signal);
  }

  /** To its process group, as a terminal does on Ctrl-C. */
  signalGroup(signal: NodeJS.Signals): void {
    this.#send(-this.pid, signal);
  }

  /** Kills it and its group. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#send(this.#hasOwnGroup ? -this.pid : this.pid, 'SIGKILL');
    // Unread output would keep it from closing.
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
