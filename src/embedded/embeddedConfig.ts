import type { Config } from '../config.ts';
import { configOf } from '../config/configOf.ts';
import { ConfigError, type Environment, type FixedValues } from '../config/environment.ts';
import { openSettings } from '../config/openSettings.ts';
import type { Audience } from '../config/setting.ts';
import { ALL_SETTINGS, variablesOf, type SettingName } from '../config/settings.ts';

/**
 * Reads the settings of what answers inside another program, which serves it and knows its callers: what concerns a
 * server of our own is not looked at.
 *
 * @throws {ConfigError} that lists every problem by name
 */
export function readEmbeddedConfig(settings: Environment): Config {
  const read = openSettings(settings, NOT_EMBEDDED);
  const config = configOf(read, { readDocuments: () => undefined, isEmbedded: true });
  if (config.simulator === undefined || config.simulatorUrl !== undefined) return config;
  // What it invents must not reach a program that did not ask for it.
  throw new ConfigError([
    'OPERATOR_AUTH_URL is missing: inside another program there is no built-in simulator. Set it and OPERATOR_SIM_SWAP_URL, or OPERATORS_FILE.',
  ]);
}

/** The parts of the table of settings that are about a server of our own, its callers and those who run it. */
const OF_SERVER: ReadonlySet<Audience> = new Set(['try', 'callers', 'observe', 'web']);

/** Of those, what counts without such a server as well. */
const EMBEDDED: ReadonlySet<string> = new Set<SettingName>([
  'ROLE',
  'SIMULATOR',
  'SETTINGS_FILE',
  'PURPOSES',
  'AUDIT_KEY',
  'AUDIT_LOG',
]);

/** The other program may have settings of the same names for itself: `LOG_LEVEL`, `OTEL_…`. */
const NOT_EMBEDDED: FixedValues = new Map(
  [...ALL_SETTINGS]
    .filter(([name, { audience }]) => OF_SERVER.has(audience) && !EMBEDDED.has(name))
    .flatMap(([name, setting]) => variablesOf(name, setting))
    .map((name) => [name, undefined]),
);
