import { setTimeout as sleep } from 'node:timers/promises';
import { Program } from '../program.ts';
import { TemporaryFiles } from '../tls/temporaryFiles.ts';

/** How long a test waits for a line at most. */
const LINE_MS = 120_000;

type Line = Readonly<Record<string, unknown>>;

/** `src/main.ts` in a process of its own, whose variables stand in a file that can be changed. */
export class ReloadingServer implements AsyncDisposable {
  readonly url: string;
  readonly files: TemporaryFiles;
  readonly #program: Program;

  private constructor(url: string, files: TemporaryFiles, program: Program) {
    this.url = url;
    this.files = files;
    this.#program = program;
  }

  /** @param variables that stand in the file */
  static async start(
    files: TemporaryFiles,
    variables: Readonly<Record<string, string>>,
    environment: Readonly<Record<string, string>> = {},
  ): Promise<ReloadingServer> {
    const file = writeVariables(files, variables);
    const program = Program.node([`--env-file=${file}`, 'src/main.ts'], {
      PORT: '0',
      ...environment,
    });
    const [line] = await program.written(/^.*"msg":"listening".*(?=\n)/m);
    const { port } = JSON.parse(line) as { port: number };
    return new ReloadingServer(`http://127.0.0.1:${port}`, files, program);
  }

  /** Puts others in the place of the variables in the file. */
  write(variables: Readonly<Record<string, string>>): void {
    writeVariables(this.files, variables);
  }

  /** Resolves to what the log says of it. */
  async reload(): Promise<Line> {
    const before = this.#lines('cause').length;
    this.#program.signal('SIGHUP');
    return this.reloaded(before);
  }

  /** Writes variables, and reloads. */
  reloadWith(variables: Readonly<Record<string, string>>): Promise<Line> {
    this.write(variables);
    return this.reload();
  }

  /** Resolves to what the log says of the reload after so many. */
  async reloaded(before: number): Promise<Line> {
    return this.#line('cause', before);
  }

  /** Resolves once nothing shows any more what so many reloads have replaced. */
  async drained(reload: number): Promise<void> {
    await this.#line('reload', 0, (line) => line['reload'] === reload && !('cause' in line));
  }

  logged(message: string): readonly Line[] {
    return this.#lines('msg').filter(({ msg }) => msg === message);
  }

  get out(): string {
    return this.#program.out;
  }

  signal(signal: NodeJS.Signals): void {
    this.#program.signal(signal);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#program[Symbol.asyncDispose]();
  }

  async #line(
    member: string,
    before: number,
    isIt: (line: Line) => boolean = () => true,
  ): Promise<Line> {
    for (let waitedMs = 0; waitedMs < LINE_MS; waitedMs += 20) {
      const line = this.#lines(member).filter(isIt)[before];
      if (line !== undefined) return line;
      await sleep(20);
    }
    throw new Error(`No such line was written: ${this.#program.out}${this.#program.err}`);
  }

  /** Those of the log that have this member. */
  #lines(member: string): readonly Line[] {
    return this.#program.lines
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Line)
      .filter((line) => member in line);
  }
}

function writeVariables(
  files: TemporaryFiles,
  variables: Readonly<Record<string, string>>,
): string {
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`);
  return files.write('variables.env', lines.join(''));
}
