/*
 * Removed settings and members of operators, each with its replacement as the end of a sentence.
 */

const OWN = 'moved into profiles: write your own (docs/operators.md)';

const profile = (names: string): string =>
  `moved into profiles: take ${names}, or write your own (docs/operators.md)`;

const member = (path: string): string =>
  `was removed: name the operator in OPERATORS_FILE, where it is "${path}"`;

/** Each name with its replacement. */
function byName(namesByWhat: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(namesByWhat).flatMap(([what, names]) =>
      names.split(' ').map((name) => [name, what] as const),
    ),
  );
}

/** Of an operator in the file. */
export const GONE_MEMBERS = byName({
  [OWN]:
    'client.signedRequest scopes.joinedBy tokens.marginSeconds tokens.defaultLifetimeSeconds retryLookups http2 tokenMismatch',
  [profile('the one of this operator, such as telefonica, kpn or aggregator-in')]: 'paths grant',
  [profile('nokia, which sends client.secret in a header')]: 'client.headers',
  [profile('orange or vodafone-marketplace')]: 'scopes.openid',
  [profile('orange, telefonica or camara-jwt-bearer')]: 'scopes.purpose',
  [profile('aggregator-in, claro or mtn')]: 'phoneNumber',
  [profile('aggregator-in, mtn or twilio-lookup')]: 'reading',
  [profile('claro, telefonica, mtn or twilio-lookup')]: 'errors',
  'was removed: client.key is the key, client.kid its name; audience and algorithm are in the profile':
    'client.assertion',
  'was removed: its echo is "echo", and the rest is in profiles': 'correlator',
  'was removed: limits.connections bounds the lookups under way as well': 'limits.permits',
});

export const GONE_SETTINGS = byName({
  'was removed: a changed setting takes a restart, and files of secrets are read again without one':
    'RELOAD_ON_CHANGE',
  'was removed: settings are variables, here or in .env, and operators are in the file that OPERATORS_FILE names':
    'SETTINGS_FILE',
  'was removed: set ROUTER_SECRET to both, with a comma between':
    'ROUTER_SECRET_PREVIOUS ROUTER_SECRET_PREVIOUS_FILE',
  'was removed: EGRESS_PROXY_URL, EGRESS_PROXY_CREDENTIALS_FILE and EGRESS_CA_FILE are for all that is not an operator':
    'JWT_JWKS_PROXY_URL JWT_JWKS_PROXY_CA_FILE JWT_JWKS_TLS_CA_FILE JWT_JWKS_TLS_SERVER_NAME JWT_JWKS_PROXY_CREDENTIALS JWT_JWKS_PROXY_CREDENTIALS_FILE',
  'was removed: the issuer of tokens gets no client certificate':
    'JWT_JWKS_TLS_CERTIFICATE_FILE JWT_JWKS_TLS_KEY_FILE JWT_JWKS_TLS_KEY_PASSPHRASE JWT_JWKS_TLS_KEY_PASSPHRASE_FILE',
  'was removed: OpenTelemetry has no such variable; set the headers themselves':
    'OTEL_EXPORTER_OTLP_HEADERS_FILE OTEL_EXPORTER_OTLP_TRACES_HEADERS_FILE',
  'was removed: without tokens use localhost, with tokens any name': 'ALLOWED_HOSTS',
  'was removed: write it in REDIS_URL, as redis+cluster://… or redis+sentinel://…':
    'REDIS_TOPOLOGY',
  'was removed: write it in REDIS_URL, as redis+sentinel://host:26379/mymaster':
    'REDIS_SENTINEL_MASTER',
  'was removed: write it in REDIS_URL, as redis://user:password@host:6379':
    'REDIS_USERNAME REDIS_PASSWORD REDIS_PASSWORD_FILE',
  'was removed: write it in REDIS_URL, as redis+sentinel://…?sentinelUsername=…&sentinelPassword=…':
    'REDIS_SENTINEL_USERNAME REDIS_SENTINEL_PASSWORD REDIS_SENTINEL_PASSWORD_FILE',
  'was removed: write it in REDIS_URL, as rediss://…?serverName=…': 'REDIS_TLS_SERVER_NAME',
  'was removed: set REDIS_TLS_CA_FILE to a file that holds it': 'REDIS_TLS_CA',
  'was removed: set REDIS_TLS_CERT_FILE to a file that holds it': 'REDIS_TLS_CERT',
  'was removed: set REDIS_TLS_KEY_FILE to a file that holds it': 'REDIS_TLS_KEY',
  'was removed: RS256, PS256 and ES256 are accepted, as the keys of JWT_JWKS_URL say':
    'JWT_ALGORITHMS',
  'was removed: REQUEST_TIMEOUT_MS is the longest that a request waits': 'CONSENT_MAX_WAIT_MS',
  'was removed: the bound grows with MAX_NUMBERS_PER_OPERATION, from 2 MB on': 'MAX_REPLY_BYTES',
  'moved into profiles: take one that has it, or write your own (OPERATOR_PROFILE, docs/operators.md)':
    'OPERATOR_ASSERTION_ALG OPERATOR_ASSERTION_AUDIENCE OPERATOR_SIGNED_REQUEST OPERATOR_CIBA_GRANT_TYPE OPERATOR_CIBA_FIRST_POLL OPERATOR_SEND_PHONE_NUMBER OPERATOR_HTTP2 OPERATOR_TOKEN_MISMATCH OPERATOR_RETRY_LOOKUPS',
  'was removed: LOG_LEVEL=warn leaves out the lines of requests': 'LOG_REQUESTS',
  [member('client.method')]: 'OPERATOR_CLIENT_AUTH',
  [member('client.kid')]: 'OPERATOR_ASSERTION_KID',
  [member('tls')]:
    'OPERATOR_TLS_CERTIFICATE_FILE OPERATOR_TLS_KEY_FILE OPERATOR_TLS_KEY_PASSPHRASE OPERATOR_TLS_KEY_PASSPHRASE_FILE OPERATOR_TLS_CA_FILE OPERATOR_TLS_SERVER_NAME',
  [member('proxy')]:
    'OPERATOR_PROXY_URL OPERATOR_PROXY_CREDENTIALS OPERATOR_PROXY_CREDENTIALS_FILE OPERATOR_PROXY_CA_FILE',
  [member('operations')]: 'OPERATOR_OPERATIONS',
  [member('scopes')]: 'OPERATOR_SCOPE_RETRIEVE_DATE OPERATOR_SCOPE_CHECK',
  [member('maxAgeHours')]: 'OPERATOR_MAX_AGE_HOURS',
  [member('dateMarginHours')]: 'OPERATOR_DATE_MARGIN_HOURS',
  [member('trustMonitoredPeriod')]: 'OPERATOR_TRUST_MONITORED_PERIOD',
  [member('echo')]: 'OPERATOR_CORRELATOR_ECHO',
  [member('headers')]: 'OPERATOR_HEADERS OPERATOR_HEADERS_FILE',
  [member('price')]: 'OPERATOR_PRICE_CHECK OPERATOR_PRICE_RETRIEVE_DATE OPERATOR_PRICE_CURRENCY',
});
