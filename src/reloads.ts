import { ConfigError } from './config/environment.ts';
import type { Config, ReadSettings } from './config.ts';
import { errorName } from './errors.ts';
import type { Log } from './log.ts';
import type { Reloaded } from './server.ts';

/** What made us read the settings again. */
export type ReloadCause = 'SIGHUP' | 'a file changed';

/** What reloading takes. */
export interface ReloadsParts {
  /** As they were read at the start. */
  readonly settings: ReadSettings;
  /** Puts settings in force; rejects when it cannot, and the ones before stay. */
  readonly apply: (settings: ReadSettings) => Promise<Reloaded>;
  /** Told of the files that the settings in force stand in. */
  readonly onRead: (settings: ReadSettings) => void;
  /** Told that the settings were not fit, or could not be served by. */
  readonly onRefused: () => void;
  readonly log: Log;
}

/** Reads the settings again when asked, one reading at a time, and says in the log what came of it. */
export class Reloads {
  readonly #parts: ReloadsParts;
  #settings: ReadSettings;
  #asked: ReloadCause | undefined;
  #running: Promise<void> | undefined;
  #isOver = false;
  #count = 0;

  constructor(parts: ReloadsParts) {
    this.#parts = parts;
    this.#settings = parts.settings;
  }

  get inForce(): Config {
    return this.#settings.config;
  }

  /** Resolves when the settings have been read that there are by now. Never rejects. */
  ask(cause: ReloadCause): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    this.#asked = cause;
    this.#running ??= this.#run();
    return this.#running;
  }

  /** Reloads no more; resolves when a reload that is under way has ended. */
  async close(): Promise<void> {
    this.#isOver = true;
    this.#asked = undefined;
    await this.#running;
  }

  async #run(): Promise<void> {
    // What comes while one is under way may have changed files that it has read.
    for (let cause = this.#asked; cause !== undefined; cause = this.#asked) {
      this.#asked = undefined;
      await this.#reload(cause);
    }
    this.#running = undefined;
  }

  async #reload(cause: ReloadCause): Promise<void> {
    const { apply, onRead, onRefused, log } = this.#parts;
    try {
      const settings = this.#settings.again();
      const { made, gone, drained } = await apply(settings);
      this.#settings = settings;
      this.#count += 1;
      const reload = this.#count;
      log.info('settings reloaded', { reload, cause, made: listOf(made), gone: listOf(gone) });
      void this.#tellDrained(reload, drained);
      const { waitingForRestart } = settings;
      if (waitingForRestart.length > 0) {
        log.warn('changed settings that take a restart are as they were', {
          settings: listOf(waitingForRestart),
        });
      }
      onRead(settings);
    } catch (error) {
      onRefused();
      log.error(REFUSED, {
        cause,
        ...(error instanceof ConfigError
          ? { problems: error.problems.join(' ') }
          : { error: errorName(error) }),
      });
    }
  }

  /** From then on nothing shows credentials or certificates that the operator is to forget. */
  async #tellDrained(reload: number, drained: Promise<void>): Promise<void> {
    await drained;
    if (!this.#isOver) {
      this.#parts.log.info('the settings before the reload are used no more', { reload });
    }
  }
}

const REFUSED = 'The settings cannot be taken over: those from before stay in force. Mend them.';

function listOf(names: readonly string[]): string | undefined {
  return names.length === 0 ? undefined : names.join(', ');
}
