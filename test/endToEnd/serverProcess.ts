import { Program } from '../support/program.ts';
import { askAt, type Service } from '../support/service.ts';

/** `src/main.ts` in a process of its own, on a free port, with an operator that is not the built-in one. */
export class ServerProcess extends Program {
  url = '';

  /** @param prefix a command that runs it, such as `prlimit` */
  static async start(
    operatorUrl: string,
    settings: Record<string, string>,
    prefix: readonly string[] = [],
  ): Promise<ServerProcess> {
    const [command, ...words] = [...prefix, process.execPath, 'src/main.ts'];
    const server = new ServerProcess(command, words, {
      PORT: '0',
      OPERATOR_AUTH_URL: operatorUrl,
      OPERATOR_SIM_SWAP_URL: operatorUrl,
      OPERATOR_CLIENT_ID: 'test-client',
      OPERATOR_CLIENT_SECRET: 'test-secret',
      ...settings,
    });
    server.url = await server.serves();
    return server;
  }

  readonly ask: Service['ask'] = (...asked) => askAt(this.url, ...asked);

  logged(message: string): readonly Readonly<Record<string, unknown>>[] {
    return this.lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ msg }) => msg === message);
  }

  terminate(): void {
    this.signal('SIGTERM');
  }
}
