import { fileURLToPath } from 'node:url';
import { ProbedProgram } from './probedProgram.ts';

const PROGRAM = fileURLToPath(new URL('serverUnderTest.ts', import.meta.url));

/** A server of a long run. It ends when its channel is closed. */
export class ForkedServer extends ProbedProgram {
  url = '';

  /**
   * Resolves when it serves; rejects when it ends before.
   *
   * @param word its argument
   */
  static async start(settings: Readonly<Record<string, string>>, word = ''): Promise<ForkedServer> {
    const words = ['--expose-gc', PROGRAM, word];
    const server = new ForkedServer(process.execPath, words, { PORT: '0', ...settings });
    ({ url: server.url } = await server.message<{ url: string }>());
    return server;
  }

  async stop(): Promise<void> {
    if (this.child.connected) this.child.disconnect();
    await this.exit;
  }
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
