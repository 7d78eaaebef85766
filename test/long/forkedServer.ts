import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { COMPILE_CACHE } from '../compileCache.ts';
import type { ProbeFigures } from './probe.ts';

const PROGRAM = fileURLToPath(new URL('serverUnderTest.ts', import.meta.url));

/**
 * A server of a long run in a process of its own, so that the load of the run is not taken for the server's. It ends
 * when its channel is closed.
 */
export class ForkedServer {
  /** Such as `http://127.0.0.1:40123`. */
  readonly url: string;
  readonly #child: ChildProcess;
  readonly #ended: Promise<never>;

  private constructor(url: string, child: ChildProcess, ended: Promise<never>) {
    this.url = url;
    this.#child = child;
    this.#ended = ended;
  }

  /**
   * Resolves when it serves; rejects when it ends before.
   *
   * @param word its argument
   */
  static async start(settings: Readonly<Record<string, string>>, word = ''): Promise<ForkedServer> {
    const child = fork(PROGRAM, [word], {
      env: { ...COMPILE_CACHE, PORT: '0', ...settings },
      execArgv: [...process.execArgv, '--expose-gc'],
    });
    const ended = once(child, 'exit').then(() => Promise.reject(new Error('The server ended.')));
    ended.catch(() => undefined);
    const { url } = await nextMessage<{ url: string }>(child, ended);
    return new ForkedServer(url, child, ended);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Starts to count the event loop's delay again, from zero. */
  resetDelay(): void {
    this.#child.send('reset');
  }

  /** What it holds now; rejects when it ends before. One question at a time. */
  async figures(): Promise<ProbeFigures> {
    const told = nextMessage<ProbeFigures>(this.#child, this.#ended);
    this.#child.send('figures');
    return told;
  }

  /** Lets it end, and resolves when it has. */
  async stop(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect();
    await this.#ended.catch(() => undefined);
  }
}

async function nextMessage<Told>(child: ChildProcess, ended: Promise<never>): Promise<Told> {
  const [told] = (await Promise.race([once(child, 'message'), ended])) as unknown[];
  return told as Told;
}

/** As many prompts as a long run makes. */
export const UNLIMITED_PROMPTS: Readonly<Record<string, string>> = {
  QUOTA_PROMPTS_PER_HOUR: '999999999',
  QUOTA_PROMPTS_PER_HOUR_ALL_CALLERS: '999999999',
};

/** Consents that are over soon, so that a run of minutes sees many of each number. */
export const SHORT_CONSENTS: Readonly<Record<string, string>> = {
  CONSENT_DOUBT_SECONDS: '1',
  CONSENT_DENIED_SECONDS: '1',
  CONSENT_FAILURE_SECONDS: '1',
  CONSENT_RESULT_SECONDS: '10',
};

/** The settings of a server that asks the operator of a long run, whose prompts have no quota. */
export function askingOperator(
  operatorUrl: string,
  flow: '2-legged' | '3-legged',
): Readonly<Record<string, string>> {
  return {
    OPERATOR_AUTH_URL: operatorUrl,
    OPERATOR_SIM_SWAP_URL: operatorUrl,
    OPERATOR_CLIENT_ID: 'long-run',
    OPERATOR_CLIENT_SECRET: 'long-run',
    OPERATOR_FLOW: flow,
    ...UNLIMITED_PROMPTS,
    ...SHORT_CONSENTS,
  };
}
