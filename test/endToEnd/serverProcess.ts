import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { COMPILE_CACHE } from '../compileCache.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** `src/main.ts` in a process of its own, on a free port, asking an operator that is not the built-in one. */
export class ServerProcess implements AsyncDisposable {
  readonly url: string;
  /** Resolves when it has ended, by itself or not. */
  readonly exit: Promise<Exit>;
  /** What it writes: a test may stop reading it, or close it. */
  readonly stdout: Readable;
  readonly pid: number;
  /** The lines that it has written so far. */
  readonly lines: readonly string[];
  readonly #child: ChildProcess;

  private constructor(
    url: string,
    child: ChildProcess & { readonly stdout: Readable },
    exit: Promise<Exit>,
    lines: readonly string[],
  ) {
    this.lines = lines;
    this.url = url;
    this.exit = exit;
    this.stdout = child.stdout;
    this.pid = child.pid ?? 0;
    this.#child = child;
  }

  static async start(
    operatorUrl: string,
    settings: Record<string, string>,
  ): Promise<ServerProcess> {
    const child = spawn(process.execPath, [MAIN], {
      env: {
        ...COMPILE_CACHE,
        PORT: '0',
        OPERATOR_AUTH_URL: operatorUrl,
        OPERATOR_SIM_SWAP_URL: operatorUrl,
        OPERATOR_CLIENT_ID: 'test-client',
        OPERATOR_CLIENT_SECRET: 'test-secret',
        ...settings,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exit = once(child, 'exit').then(([code, signal]): Exit => ({ code, signal }));
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const lines: string[] = [];
    createInterface({ input: child.stdout }).on('line', (line) => {
      lines.push(line);
      const port = portIn(line);
      if (port !== undefined) resolve(port);
    });
    void exit.then(() => reject(new Error('The server ended before it listened.')));
    return new ServerProcess(`http://127.0.0.1:${await promise}`, child, exit, lines);
  }

  /** What its log says under this message, line by line. */
  logged(message: string): readonly Readonly<Record<string, unknown>>[] {
    return this.lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ msg }) => msg === message);
  }

  terminate(): void {
    this.#child.kill('SIGTERM');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null) this.#child.kill('SIGKILL');
    await this.exit;
  }
}

function portIn(line: string): number | undefined {
  // The last line of a process that is killed may be torn.
  if (!line.includes('"listening"')) return undefined;
  const { msg, port } = JSON.parse(line) as { msg?: string; port?: number };
  return msg === 'listening' ? port : undefined;
}
