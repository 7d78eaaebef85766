import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { COMPILE_CACHE } from './compileCache.ts';

const PROJECT = fileURLToPath(new URL('..', import.meta.url));

/** `npm …` in a process group of its own, as a terminal starts it, with these settings and no others. */
export class NpmProcess {
  out = '';
  err = '';
  /** How npm ended, once everything that it started has ended too: they share its output. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  readonly #child: ChildProcess;
  readonly #pid: number;

  constructor(words: readonly string[], settings: Readonly<Record<string, string>> = {}) {
    const { PATH = '', HOME = '' } = process.env;
    const child = spawn('npm', words, {
      cwd: PROJECT,
      detached: true,
      env: { PATH, HOME, ...COMPILE_CACHE, ...settings },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    this.#pid = child.pid ?? 0;
    child.stdout.setEncoding('utf8').on('data', (text: string) => (this.out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.err += text));
    this.ended = once(child, 'close').then(([code, signal]) => ({ code, signal }));
    onTestFinished(async () => {
      this.#send(-this.#pid, 'SIGKILL');
      await this.ended;
    });
  }

  /** Resolves to the first match in what it wrote to its standard output; fails when it ends without. */
  async written(pattern: RegExp): Promise<RegExpExecArray> {
    const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>();
    const look = (): void => {
      const found = pattern.exec(this.out);
      if (found !== null) resolve(found);
    };
    this.#child.stdout?.on('data', look);
    void this.ended.then(() => reject(new Error(`It ended without ${pattern}: ${this.err}`)));
    look();
    return await promise;
  }

  /** As a container's runtime and a service manager do: npm alone is told. */
  signalNpm(signal: NodeJS.Signals): void {
    this.#send(this.#pid, signal);
  }

  /** As a terminal does on Ctrl-C: npm, and what it started in its group, are told. */
  signalGroup(signal: NodeJS.Signals): void {
    this.#send(-this.#pid, signal);
  }

  #send(pid: number, signal: NodeJS.Signals): void {
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended.
    }
  }
}
