import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { COMPILE_CACHE } from './compileCache.ts';

/** How the process of a long run is started, beside its settings. */
export interface ForkOptions {
  readonly arguments?: readonly string[];
  /** So that it can tell what it holds, garbage aside. */
  readonly exposesGc?: boolean;
}

/**
 * A server of a long run in a process of its own, so that the load of the run is not taken for the
 * server's. Its program sends `{ url }` when it serves, answers each question with one message, and ends
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

  /** Resolves when it serves; rejects when it ends before. */
  static async start(
    program: URL,
    settings: Readonly<Record<string, string>>,
    options: ForkOptions = {},
  ): Promise<ForkedServer> {
    const child = fork(fileURLToPath(program), options.arguments ?? [], {
      env: { ...COMPILE_CACHE, PORT: '0', ...settings },
      execArgv: [...process.execArgv, ...(options.exposesGc === true ? ['--expose-gc'] : [])],
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

  /** Sends it a word that it does not answer. */
  tell(word: string): void {
    this.#child.send(word);
  }

  /** Resolves to its answer; rejects when it ends before. One question at a time. */
  async ask<Told>(word: string): Promise<Told> {
    const told = nextMessage<Told>(this.#child, this.#ended);
    this.#child.send(word);
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
  };
}

/** Consents that are over soon, so that a run of minutes sees many of each number. */
export const SHORT_CONSENTS: Readonly<Record<string, string>> = {
  CONSENT_DOUBT_SECONDS: '1',
  CONSENT_DENIED_SECONDS: '1',
  CONSENT_FAILURE_SECONDS: '1',
  CONSENT_RESULT_SECONDS: '10',
};
