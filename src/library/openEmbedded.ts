import { openApp, type App } from '../app/app.ts';
import type { Config } from '../config/config.ts';
import { configOf } from '../config/configOf.ts';
import { ConfigError, EnvironmentReader, type Environment } from '../config/environment.ts';
import { SECTIONS, variablesOf, type Setting, type SettingName } from '../config/settings.ts';
import { tokenIdentity, type TokenIdentity } from '../domain/identity.ts';
import type { Log } from '../log/log.ts';
import type { OperatorSettings } from '../operator/operatorSettings.ts';
import { systemClock } from '../system/clock.ts';
import { simulatorAt } from '../../simulator/address.ts';

export interface EmbeddedParts {
  readonly settings: Readonly<Record<string, string | number | boolean | undefined>>;
  /** The contents of OPERATORS_FILE. */
  readonly operators?: object;
  readonly log?: Log;
}

/**
 * An app inside another program, which has the HTTP server, the gate and the metrics.
 *
 * @throws {ConfigError} that lists every problem of the settings by name
 */
export function openEmbedded(parts: EmbeddedParts): Promise<App> {
  const { settings, operators: file, log = SILENT } = parts;
  const config = configOf(new EnvironmentReader(textsOf(settings)), file);
  return openApp({ config, operators: operatorsOf(config), clock: systemClock, log });
}

function operatorsOf({ operators, simulator, simulatorUrl }: Config): readonly OperatorSettings[] {
  if (simulator === undefined) return operators;
  if (simulatorUrl !== undefined) return simulator(simulatorAt(simulatorUrl));
  // Invented answers must not reach a program that did not choose the simulator.
  throw new ConfigError([
    'OPERATOR_AUTH_URL is missing: the library has no built-in simulator. Set it and OPERATOR_SIM_SWAP_URL, or OPERATORS_FILE, or SIMULATOR.',
  ]);
}

const SILENT: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Settings only for a server are renamed to a name that no setting has: a secret among them is never quoted. */
function textsOf(settings: EmbeddedParts['settings']): Environment {
  const given = Object.entries(settings).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    given.map(([name, value]) => [
      NOT_EMBEDDED.has(name) || SERVER_PREFIXES.test(name) ? `not read: ${name}` : name,
      String(value),
    ]),
  );
}

/** The parts of the table of settings that are for a server of our own, its callers and those who run it. */
const SERVER_SETTINGS = {
  ...SECTIONS.try,
  ...SECTIONS.callers,
  ...SECTIONS.observe,
  ...SECTIONS.web,
};

/** Those of them that apply without such a server as well. */
const EMBEDDED: ReadonlySet<string> = new Set<SettingName>([
  'ROLE',
  'SIMULATOR',
  'PURPOSES',
  'BATCH_SCOPE',
  'AUDIT_KEY',
  'AUDIT_LOG',
  'DOCS_URL',
]);

/** First words that only settings of a server have: the other program may have more of them, such as JWT_SECRET. */
const SERVER_PREFIXES = /^(?:ALLOWED|JWT|LOG|OTEL|ROUTER)_/;

/** The other program may use settings of the same names for itself: `LOG_LEVEL`, `OTEL_…`. */
const NOT_EMBEDDED: ReadonlySet<string> = new Set(
  Object.entries<Setting>(SERVER_SETTINGS)
    .filter(([name]) => !EMBEDDED.has(name))
    .flatMap(([name, setting]) => variablesOf(name, setting)),
);

/**
 * The caller of a request. Without types any of its members may be missing.
 *
 * @throws {TypeError} when one is no text, or empty: an id that was lost would make all callers without it one caller
 */
export function identityFrom(caller: unknown): TokenIdentity {
  const { issuer, subject, client = null }: Omit<TokenIdentity, 'key' | 'kind'> = Object(caller);
  for (const [member, value] of Object.entries({ issuer, subject, client })) {
    if (member === 'client' && value === null) continue;
    if (typeof value === 'string' && value !== '') continue;
    throw new TypeError(
      `caller.${member} must be a text that is not empty: pass what names the caller, as in its access token.`,
    );
  }
  return tokenIdentity(issuer, subject, client);
}

/** As `REQUEST_TIMEOUT_MS`. A timer takes little more, and fires at once for anything longer. */
const MAX_TIMEOUT_MS = 300_000;

interface RequestTerms {
  readonly purpose?: string;
  readonly waitMs?: number;
  readonly timeoutMs?: number;
}

/**
 * The purpose of a request, how long it waits for the owner of a number, and how long its answers may take: as it
 * states, otherwise by the settings.
 *
 * @throws {RangeError} when its purpose is not allowed, or a time is not valid: a timer would take it for 0
 */
export function termsOf(
  { purpose, waitMs, timeoutMs: statedMs }: RequestTerms,
  { callers: { purposes }, requestTimeoutMs }: Pick<Config, 'callers' | 'requestTimeoutMs'>,
) {
  const found = purposes.find(({ name }) => name === (purpose ?? purposes[0].name));
  if (found === undefined) throw new RangeError('The purpose is not one of PURPOSES.');
  if (waitMs !== undefined && !(waitMs >= 0)) {
    throw new RangeError('waitMs is a number of milliseconds, from 0.');
  }
  const timeoutMs = statedMs ?? requestTimeoutMs;
  const isTime = Number.isFinite(timeoutMs) && timeoutMs >= 1 && timeoutMs <= MAX_TIMEOUT_MS;
  if (isTime) return { purpose: found, waitMs, timeoutMs };
  throw new RangeError(`timeoutMs is a number from 1 to ${MAX_TIMEOUT_MS}.`);
}
