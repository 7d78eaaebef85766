import { Program } from '../program.ts';

type Line = Readonly<Record<string, unknown>>;

/** `src/main.ts` in a process of its own. */
export class StartedServer implements AsyncDisposable {
  readonly url: string;
  readonly #program: Program;

  private constructor(url: string, program: Program) {
    this.url = url;
    this.#program = program;
  }

  /** @param early done to the process before it has said anything */
  static async start(
    settings: Readonly<Record<string, string>>,
    early: (program: Program) => void | Promise<void> = () => undefined,
  ): Promise<StartedServer> {
    const program = Program.node(['src/main.ts'], { PORT: '0', ...settings });
    await early(program);
    const [line] = await program.written(/^.*"msg":"listening".*(?=\n)/m);
    const { port } = JSON.parse(line) as { port: number };
    return new StartedServer(`http://127.0.0.1:${port}`, program);
  }

  /** Drained: what took its place may have begun by then. */
  async stop(): Promise<void> {
    this.#program.signal('SIGTERM');
    await this.#program.ended;
  }

  signal(signal: NodeJS.Signals): void {
    this.#program.signal(signal);
  }

  /** The lines of the log with this message. */
  logged(message: string): readonly Line[] {
    return this.#program.lines
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Line)
      .filter(({ msg }) => String(msg).startsWith(message));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#program[Symbol.asyncDispose]();
  }
}

/** An answer about a number, or the code of why there is none. */
export async function ask(
  url: string,
  number: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<boolean | string> {
  try {
    const reply = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query: `{ phoneNumber(e164: "${number}") { simSwappedWithin } }` }),
    });
    const { data, errors } = (await reply.json()) as {
      readonly data?: {
        readonly phoneNumber: { readonly simSwappedWithin: boolean | null } | null;
      };
      readonly errors?: readonly { readonly extensions: { readonly code: string } }[];
    };
    const code = errors?.[0]?.extensions.code;
    return code ?? data?.phoneNumber?.simSwappedWithin ?? `status ${reply.status}`;
  } catch (error) {
    return String(error);
  }
}
