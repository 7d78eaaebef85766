import { once } from 'node:events';
import { Program } from '../program.ts';
import type { ProbeFigures } from './probe.ts';

const TELLS_WITHIN_MS = 30_000;

/** A program with the probe inside (probe.ts), in a process of its own: the load on it is not taken for its own work. */
export class ProbedProgram extends Program {
  constructor(
    command: string,
    words: readonly string[],
    settings: Readonly<Record<string, string>>,
  ) {
    super(command, words, settings, { hasChannel: true });
    // A message to a process that has just died.
    this.child.on('error', () => undefined);
  }

  get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Starts to count the event loop's delay again, from zero. */
  resetDelay(): void {
    this.child.send('reset');
  }

  /** What it holds now, garbage aside; rejects when it does not tell. One question at a time. */
  async figures(): Promise<ProbeFigures> {
    const told = this.message<ProbeFigures>();
    if (this.child.connected) this.child.send('figures');
    return told;
  }

  /** What it sends next; rejects when it ends before. */
  protected async message<Told>(): Promise<Told> {
    const ended = this.exit.then(() => Promise.reject(new Error(`It has ended. ${this.err}`)));
    const sent = once(this.child, 'message', { signal: AbortSignal.timeout(TELLS_WITHIN_MS) });
    const [told] = (await Promise.race([sent, ended])) as [Told];
    return told;
  }
}
