import { monitorEventLoopDelay } from 'node:perf_hooks';
import { OwnDelay } from '../fuzz/ownDelay.ts';

/** How long a thread kept what was due waiting, in milliseconds. */
export interface LoopFigures {
  /** The longest that a due timer waited, by the wall clock. */
  readonly longestTurnMs: number;
  /** The same, counting only what this thread itself computed meanwhile. */
  readonly ownTurnMs: number;
}

/** Watches this thread's event loop. */
export class LoopWatch {
  readonly #delay = monitorEventLoopDelay({ resolution: 5 });
  readonly #ownDelay = new OwnDelay();

  constructor() {
    this.#delay.enable();
    this.#ownDelay.start();
  }

  get figures(): LoopFigures {
    return { longestTurnMs: this.#delay.max / 1e6, ownTurnMs: this.#ownDelay.longestMs };
  }

  stop(): LoopFigures {
    this.#delay.disable();
    this.#ownDelay.stop();
    return this.figures;
  }
}
