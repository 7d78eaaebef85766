import { once } from 'node:events';
import { Agent, request } from 'undici';
import type { MemoryGroup } from '../support/memoryGroup.ts';
import { Program } from '../support/program.ts';
import type { ProbeFigures } from './probe.ts';

const PROBE = new URL('probe.ts', import.meta.url).href;
const REPORTS_WITHIN_MS = 30_000;

/** The service as `npm start` runs it, in a process of its own with a probe inside (probe.ts). */
export class ProbedServer extends Program {
  url = '';
  #agent = newAgent();

  /**
   * Resolves once it serves; rejects with its output when it ends before.
   *
   * @param flags of Node's, such as a limit for the heap
   * @param group where it runs
   */
  static async start<S extends ProbedServer>(
    this: new (...program: ConstructorParameters<typeof Program>) => S,
    settings: Readonly<Record<string, string>>,
    flags: readonly string[] = [],
    group?: MemoryGroup,
  ): Promise<S> {
    const words = ['--expose-gc', '--import', PROBE, ...flags, 'src/main.ts'];
    const command = ['scripts/node', words] as const;
    const server = new this(
      ...(group?.entered(...command) ?? command),
      { PORT: '0', ...settings },
      { hasChannel: true },
    );
    // A message to a process that has just died.
    server.child.on('error', () => undefined);
    server.url = await server.serves();
    return server;
  }

  get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Posts to the graph; rejects with a TimeoutError where the reply takes longer. */
  async post(
    body: string | Buffer,
    withinMs: number,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ readonly status: number; readonly text: string }> {
    const reply = await request(`${this.url}/graphql`, {
      dispatcher: this.#agent,
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
      signal: AbortSignal.timeout(withinMs),
    });
    return { status: reply.statusCode, text: await reply.body.text() };
  }

  /** Closes the connections of `post`. */
  async hangUp(): Promise<void> {
    const agent = this.#agent;
    this.#agent = newAgent();
    await agent.close();
  }

  /** Counts the event loop's delay from zero. */
  resetDelay(): void {
    this.child.send('reset');
  }

  /** What it holds, garbage collected; rejects when it does not report. One call at a time. */
  async figures(): Promise<ProbeFigures> {
    const ended = this.exit.then(() => Promise.reject(new Error(`It has ended. ${this.err}`)));
    const signal = AbortSignal.timeout(REPORTS_WITHIN_MS);
    const reported = once(this.child, 'message', { signal });
    if (this.child.connected) this.child.send('figures');
    const [figures] = (await Promise.race([reported, ended])) as [ProbeFigures];
    return figures;
  }
}

function newAgent(): Agent {
  return new Agent({ connections: 128, headersTimeout: 0, bodyTimeout: 0 });
}
