import type { Readable } from 'node:stream';
import { Program, type Exit } from '../program.ts';
import { askAt, type Service } from '../service.ts';

/** `src/main.ts` in a process of its own, on a free port, asking an operator that is not the built-in one. */
export class ServerProcess implements AsyncDisposable {
  readonly url: string;
  readonly #program: Program;

  private constructor(url: string, program: Program) {
    this.url = url;
    this.#program = program;
  }

  /** @param prefix a command that runs it, such as `prlimit` */
  static async start(
    operatorUrl: string,
    settings: Record<string, string>,
    prefix: readonly string[] = [],
  ): Promise<ServerProcess> {
    const [command, ...words] = [...prefix, process.execPath, 'src/main.ts'];
    const environment = {
      PORT: '0',
      OPERATOR_AUTH_URL: operatorUrl,
      OPERATOR_SIM_SWAP_URL: operatorUrl,
      OPERATOR_CLIENT_ID: 'test-client',
      OPERATOR_CLIENT_SECRET: 'test-secret',
      ...settings,
    };
    const program = new Program(command, words, environment);
    const [line] = await program.written(/^.*"msg":"listening".*(?=\n)/m);
    const { port } = JSON.parse(line) as { port: number };
    return new ServerProcess(`http://127.0.0.1:${port}`, program);
  }

  /** Asks as a GraphQL client does. */
  readonly ask: Service['ask'] = (...asked) => askAt(this.url, ...asked);

  /** Resolves when it has ended, by itself or not. */
  get exit(): Promise<Exit> {
    return this.#program.exit;
  }

  /** What it writes: a test may stop reading it, or close it. */
  get stdout(): Readable {
    return this.#program.stdout;
  }

  get pid(): number {
    return this.#program.pid;
  }

  /** All that it has written so far, as text. */
  get out(): string {
    return this.#program.out;
  }

  /** The lines that it has written so far; the last of a process that is killed may be torn, and is none. */
  get lines(): readonly string[] {
    return this.#program.lines;
  }

  /** What its log says under this message, line by line. */
  logged(message: string): readonly Readonly<Record<string, unknown>>[] {
    return this.lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ msg }) => msg === message);
  }

  /** Stops or ends it, or has it go on. */
  signal(signal: NodeJS.Signals): void {
    this.#program.signal(signal);
  }

  terminate(): void {
    this.#program.signal('SIGTERM');
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#program[Symbol.asyncDispose]();
  }
}
