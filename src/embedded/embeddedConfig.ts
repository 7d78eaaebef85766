import type { Config } from '../config.ts';
import { configOf } from '../config/configOf.ts';
import { ConfigError, type Environment } from '../config/environment.ts';
import { openSettings } from '../config/openSettings.ts';

/**
 * Reads the settings of what answers inside another program, which serves it and knows its callers: what concerns a
 * server of our own is not looked at.
 *
 * @throws {ConfigError} that lists every problem by name
 */
export function readEmbeddedConfig(settings: Environment): Config {
  const read = openSettings({ ...settings, ...NOT_EMBEDDED });
  const config = configOf(read, { readDocuments: () => undefined, isEmbedded: true });
  if (config.simulator === undefined || config.simulatorUrl !== undefined) return config;
  // What it invents must not reach a program that did not ask for it.
  throw new ConfigError([
    'OPERATOR_AUTH_URL is missing: inside another program there is no built-in simulator. Set it and OPERATOR_SIM_SWAP_URL, or OPERATORS_FILE.',
  ]);
}

/** Settings of the server, its callers and those who run it. */
const NOT_EMBEDDED = {
  HOST: undefined,
  PORT: undefined,
  NODE_ENV: undefined,
  DEV_TOKENS: undefined,
  METRICS_PORT: undefined,
  ROUTER_SECRET: undefined,
  ROUTER_SECRET_FILE: undefined,
  ROUTER_SECRET_PREVIOUS: undefined,
  ROUTER_SECRET_PREVIOUS_FILE: undefined,
  JWT_JWKS_URL: undefined,
  JWT_ISSUER: undefined,
  JWT_AUDIENCE: undefined,
  BATCH_SCOPE: undefined,
} as const satisfies Environment;
