import type { CallerSettings, IssuerSettings } from '../caller/callerSettings.ts';
import { developmentTokens } from '../caller/developmentTokens.ts';
import type { Role } from '../graphql/schema.ts';
import { egressTo, type Egress } from './egress.ts';
import { MIN_SECRET_CHARACTERS, type EnvironmentReader } from './environment.ts';

const TOKEN_NAMES = ['JWT_JWKS_URL', 'JWT_ISSUER', 'JWT_AUDIENCE'] as const;

/** Of a setting that means nothing to anonymous callers. */
export const FOR_KNOWN_CALLERS =
  'is for callers with a token: set JWT_JWKS_URL, JWT_ISSUER and JWT_AUDIENCE';

/**
 * Reads who may ask. `exposure` says why strangers can reach the server; then nothing may be missing.
 *
 * @param isEmbedded whether another program knows its callers
 */
export function readCallers(
  read: EnvironmentReader,
  role: Role,
  exposure: string | undefined,
  isEmbedded: boolean,
  egress: Egress,
): CallerSettings {
  const batchScope = readBatchScope(read);
  const tokens = readTokens(read, exposure, batchScope, egress);
  if (batchScope !== undefined && tokens === undefined && !isEmbedded) {
    read.problem('BATCH_SCOPE', FOR_KNOWN_CALLERS);
  }
  return {
    tokens,
    batchScope,
    routerSecrets: readRouterSecrets(read, role, exposure),
    purposes: readPurposes(read),
  };
}

function readTokens(
  read: EnvironmentReader,
  exposure: string | undefined,
  batchScope: string | undefined,
  egress: Egress,
): IssuerSettings | undefined {
  const isAnySet = TOKEN_NAMES.map((name) => read.isSet(name)).some(Boolean);
  if (read.boolean('DEV_TOKENS')) {
    if (isAnySet)
      read.problem('DEV_TOKENS', 'cannot be set together with JWT_…: tokens come from one issuer');
    return developmentTokens(batchScope);
  }
  if (!isAnySet && exposure === undefined) return undefined;
  const why =
    exposure ?? 'callers are known by all three of JWT_JWKS_URL, JWT_ISSUER, JWT_AUDIENCE';
  for (const name of TOKEN_NAMES) read.required(name, why);
  const jwksUrl = read.url('JWT_JWKS_URL') ?? '';
  return {
    jwksUrl,
    jwksConnection: egressTo(egress, jwksUrl),
    issuer: read.text('JWT_ISSUER') ?? '',
    audience: read.text('JWT_AUDIENCE') ?? '',
    ...(batchScope === undefined ? {} : { batchScope }),
  };
}

function readBatchScope(read: EnvironmentReader): string | undefined {
  const name = 'BATCH_SCOPE';
  const scope = read.text(name);
  // RFC 6749 §3.3.
  if (scope !== undefined && !/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope)) {
    read.unfit(name, 'must be one scope, as an access token names it');
  }
  return scope;
}

/** Two count while one takes the other's place. */
function readRouterSecrets(
  read: EnvironmentReader,
  role: Role,
  exposure: string | undefined,
): readonly string[] {
  const name = 'ROUTER_SECRET';
  const secret = read.secret(name);
  const secrets = (secret ?? '').split(',').flatMap((one) => one.trim() || []);
  if (role !== 'subgraph') {
    if (secrets.length > 0)
      read.problem(name, 'is for ROLE=subgraph: a BFF has no router before it');
    return [];
  }
  if (exposure !== undefined) read.requiredSecret(name, exposure);
  if (secrets.length === 0 && secret !== undefined) {
    read.problem(name, 'is set but holds no secret');
  }
  if (secrets.length > 2) read.problem(name, 'must hold two secrets at most');
  if (secrets.some((one) => one.length < MIN_SECRET_CHARACTERS)) {
    read.problem(name, `must have at least ${MIN_SECRET_CHARACTERS} characters in each secret`);
  }
  if (secrets.some((one) => !/^[\x21-\x7e]+$/.test(one))) {
    read.problem(name, 'must be letters, digits and signs that a header can carry');
  }
  return secrets;
}

function readPurposes(read: EnvironmentReader): readonly [string, ...string[]] {
  const name = 'PURPOSES';
  const [first, ...others] = read.list(name);
  const purposes = [first ?? '', ...others] as const;
  if (purposes.some((purpose) => !/^[A-Za-z][A-Za-z0-9:_-]{0,63}$/.test(purpose))) {
    read.unfit(name, 'must be names of letters, digits, colons and hyphens, with commas between');
  }
  return [...purposes];
}
