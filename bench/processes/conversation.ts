import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** What one process asks another, and what it hears. */
interface Asked {
  readonly id: number;
  readonly name: string;
  readonly details: unknown;
}

interface Told {
  readonly id: number;
  readonly answer?: unknown;
  readonly error?: string;
}

/** How long an answer may take before the run is given up: nothing here hangs. */
const ANSWER_TIMEOUT_MS = 120_000;

/** How a program of the benchmark is started. */
export interface ProgramSettings {
  readonly environment?: Readonly<Record<string, string>>;
  readonly arguments?: readonly string[];
  /** Fastify's router writes its own routes as code; everything else runs as the service does. */
  readonly allowsCodeFromStrings?: boolean;
}

const NO_CODE_FROM_STRINGS = '--disallow-code-generation-from-strings';

/** A program of the benchmark in a process of its own, that answers questions. */
export class Program {
  readonly #child: ChildProcess;
  readonly #name: string;
  readonly #open = new Map<number, PromiseWithResolvers<unknown>>();
  #asked = 0;

  private constructor(child: ChildProcess, name: string) {
    this.#child = child;
    this.#name = name;
    child.on('message', (message) => this.#hear(message as Told));
    child.once('exit', () => {
      for (const { reject } of this.#open.values()) reject(new Error(`${name} ended.`));
      this.#open.clear();
    });
  }

  /** Starts a program and resolves when it answers; rejects when it ends before. */
  static async start(file: URL, settings: ProgramSettings = {}): Promise<Program> {
    const child = fork(file, settings.arguments ?? [], {
      env: { ...BARE_ENVIRONMENT, ...settings.environment },
      execArgv: [
        ...(settings.allowsCodeFromStrings === true ? [] : [NO_CODE_FROM_STRINGS]),
        '--no-warnings',
        '--expose-gc',
      ],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const program = new Program(child, file.pathname.split('/').at(-1) ?? '');
    await program.ask('ready');
    return program;
  }

  /** Asks it something, and resolves to what it answers. */
  async ask<T>(name: string, details?: unknown): Promise<T> {
    if (!this.#child.connected) throw new Error(`${this.#name} ended.`);
    const id = ++this.#asked;
    const asked = Promise.withResolvers<unknown>();
    this.#open.set(id, asked);
    const timer = setTimeout(() => {
      asked.reject(new Error(`${this.#name} did not answer '${name}'.`));
    }, ANSWER_TIMEOUT_MS);
    this.#child.send({ id, name, details } satisfies Asked);
    try {
      return (await asked.promise) as T;
    } finally {
      clearTimeout(timer);
      this.#open.delete(id);
    }
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }

  #hear({ id, answer: told, error }: Told): void {
    const open = this.#open.get(id);
    if (error === undefined) open?.resolve(told);
    else open?.reject(new Error(`${this.#name}: ${error}`));
  }
}

/** Nothing of the shell's environment changes what is measured; every contestant runs in production. */
const BARE_ENVIRONMENT = { PATH: process.env['PATH'] ?? '', NODE_ENV: 'production' };

/** What a program answers, by the name of the question. */
export type Answers = Readonly<Record<string, (details: never) => unknown>>;

/** Answers the questions of the process that started this one, and ends with it. */
export function answer(answers: Answers): void {
  process.on('disconnect', () => process.exit(0));
  process.on('message', (message) => {
    void tell(message as Asked, answers);
  });
}

async function tell({ id, name, details }: Asked, answers: Answers): Promise<void> {
  try {
    const find = name === 'ready' ? () => true : answers[name];
    if (find === undefined) throw new Error(`'${name}' has no answer`);
    process.send?.({ id, answer: await find(details as never) } satisfies Told);
  } catch (error) {
    process.send?.({ id, error: error instanceof Error ? error.message : String(error) });
  }
}
