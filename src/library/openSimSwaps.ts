import { createAdmissions } from '../app/callers.ts';
import { Quotas } from '../caller/quotas/quotas.ts';
import type { Clock } from '../system/clock.ts';
import type { Config } from '../config/config.ts';
import { WatchedFiles } from '../files/watchedFiles.ts';
import { readEmbeddedConfig } from './embeddedConfig.ts';
import type { WatchFiles } from '../files/fileWatch.ts';
import type { Log } from '../log/log.ts';
import { createSimSwaps, type SimSwaps } from '../simSwaps/simSwaps.ts';
import type { OperatorSettings } from '../operator/operatorSettings.ts';
import { simulatorAt } from '../../simulator/address.ts';
import { openStores } from '../app/stores.ts';

/** What another program hands in. */
export interface EmbeddedParts {
  readonly settings: Readonly<Record<string, string | number | boolean | undefined>>;
  /** What OPERATORS_FILE would hold. */
  readonly operators: object | undefined;
  readonly log: Log | undefined;
  readonly clock: Clock;
}

/** What answers from operators inside another program, with its quotas, stores and audit log. */
export interface EmbeddedSimSwaps {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly simSwaps: SimSwaps;
  readonly quotas: Quotas;
  /** Ends once nothing is under way any more that must not be cut. */
  close(): Promise<void>;
}

/**
 * Puts together what answers, of the same parts as the service does: without its HTTP server, its gate and its
 * metrics, which are the other program's. It reads no environment, takes no signal and starts no process.
 *
 * @throws {ConfigError} that lists every problem of the settings by name
 */
export async function openSimSwaps(parts: EmbeddedParts): Promise<EmbeddedSimSwaps> {
  const { clock, log = SILENT } = parts;
  const config = readEmbeddedConfig(textsOf(parts.settings), parts.operators);
  const { consent, directory, audit } = config;
  const operators = operatorsOf(config);
  const watchFiles: WatchFiles = (paths, onChange, readBefore) =>
    new WatchedFiles(paths, clock, onChange, readBefore);
  const stores = await openStores({ config, clock, log, watchFiles });
  const names = operators.map(({ name }) => name);
  const quotas = new Quotas(config.quotas, stores.counts, names);
  const { admissions } = createAdmissions(audit, quotas, { clock, log });
  const simSwaps = createSimSwaps({
    operators: await Promise.all(
      operators.map(async (settings) => ({
        settings,
        stores: await stores.forOperator(settings, consent),
      })),
    ),
    directory,
    consent,
    watchFiles,
    admissions,
    numberLimits: config.load.numbers,
    clock,
    log,
  });
  return {
    config,
    clock,
    log,
    simSwaps,
    quotas,
    async close() {
      await simSwaps.close();
      await admissions.close();
      stores.close();
    },
  };
}

function operatorsOf({ operators, simulator, simulatorUrl }: Config): readonly OperatorSettings[] {
  return simulator === undefined || simulatorUrl === undefined
    ? operators
    : [simulator(simulatorAt(simulatorUrl))];
}

const SILENT: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

function textsOf(settings: EmbeddedParts['settings']): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(settings).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)] as const],
    ),
  );
}
