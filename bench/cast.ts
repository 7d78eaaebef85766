import type { Contestant, OtherServer, OurServer } from './contestants/contestant.ts';
import { exchanging, serving, type Terms } from './measure/costs.ts';
import type { Figures } from './measure/figures.ts';
import type { Entrant } from './measure/interleave.ts';
import type { Program } from './processes/conversation.ts';
import type { Gauge } from './processes/gauge.ts';
import type { Running, RunningServer, Stage } from './stage.ts';
import type { Workload } from './workload.ts';

/** A contestant runs this before it is measured, until its code is compiled: before that it is slower. */
const WARM_UP: Workload = { numbers: 100, fields: 'window', concurrency: 4, requests: 8 };
const WARM_AFTER_CPU_MS = 3500;
/** The guard has no time for that; its bounds allow for what is not compiled. */
const LUKEWARM_AFTER_CPU_MS = 1600;

/** The contestants' processes: each is started and warmed up when it is first called for, and kept. */
export class Cast implements AsyncDisposable {
  readonly stage: Stage;
  readonly #warmAfterCpuMs: number;
  readonly #running = new Map<string, Promise<Running>>();
  readonly #servers = new Map<string, Promise<RunningServer>>();

  constructor(stage: Stage, { isQuick }: { readonly isQuick: boolean }) {
    this.stage = stage;
    this.#warmAfterCpuMs = isQuick ? LUKEWARM_AFTER_CPU_MS : WARM_AFTER_CPU_MS;
  }

  /** A contestant with this workload before it, under a name in a table. */
  async entrant(
    name: string,
    contestant: Contestant,
    workload: Workload,
    terms?: Terms,
  ): Promise<Entrant<Figures>> {
    if (contestant.kind === 'raw') {
      const running = await this.#keep(this.#running, contestant, async () => {
        const raw = await this.stage.raw(contestant);
        await this.#warmUp(raw, exchanging(name, this.stage, raw, WARM_UP));
        return raw;
      });
      return exchanging(name, this.stage, running, workload, terms);
    }
    return serving(name, this.stage, [await this.server(contestant)], workload, terms);
  }

  server(contestant: OtherServer | OurServer): Promise<RunningServer> {
    return this.#keep(this.#servers, contestant, async () => {
      const server = await this.stage.server(contestant);
      await this.#warmUp(server, serving('warming up', this.stage, [server], WARM_UP));
      return server;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const all = [...this.#running.values(), ...this.#servers.values()];
    // What did not start needs no end.
    await Promise.allSettled(all.map(async (running) => (await running).program.stop()));
  }

  #keep<R>(
    all: Map<string, Promise<R>>,
    contestant: Contestant,
    start: () => Promise<R>,
  ): Promise<R> {
    const key = JSON.stringify(contestant);
    const running = all.get(key) ?? start();
    all.set(key, running);
    return running;
  }

  async #warmUp({ program }: Running, entrant: Entrant<Figures>): Promise<void> {
    do await entrant.round();
    while ((await cpuMsOf(program)) < this.#warmAfterCpuMs);
  }
}

async function cpuMsOf(program: Program): Promise<number> {
  return (await program.ask<Gauge>('gauge', {})).cpuMs;
}
