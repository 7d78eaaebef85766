const IN_REDIS_URL = 'went: REDIS_URL says it, as redis://user:password@host:6379';
const OF_SENTINELS =
  'went: REDIS_URL says it, as redis+sentinel://…?sentinelUsername=…&sentinelPassword=…';

/** Settings that there were once, each with what took its place: the end of a sentence about it. */
export const GONE_SETTINGS: ReadonlyMap<string, string> = new Map([
  [
    'RELOAD_ON_CHANGE',
    'went: changed settings count from the next start on, and files of secrets are read again by themselves',
  ],
  [
    'SETTINGS_FILE',
    'removed: settings are variables, here or in .env, and operators are in the file that OPERATORS_FILE names',
  ],
  ...secret('ROUTER_SECRET_PREVIOUS', 'went: set ROUTER_SECRET to both, with a comma between'),
  ...['PROXY_URL', 'PROXY_CA_FILE', 'TLS_CA_FILE', 'TLS_SERVER_NAME'].map(egress),
  ...['PROXY_CREDENTIALS', 'PROXY_CREDENTIALS_FILE'].map(egress),
  ...['TLS_CERTIFICATE_FILE', 'TLS_KEY_FILE'].map(clientCertificate),
  ...['TLS_KEY_PASSPHRASE', 'TLS_KEY_PASSPHRASE_FILE'].map(clientCertificate),
  ...['OTEL_EXPORTER_OTLP_HEADERS_FILE', 'OTEL_EXPORTER_OTLP_TRACES_HEADERS_FILE'].map(
    (name) => [name, 'went: OpenTelemetry knows no such name; set the headers themselves'] as const,
  ),
  ['ALLOWED_HOSTS', 'removed: without tokens use localhost, with tokens any name'],
  ['REDIS_TOPOLOGY', 'went: REDIS_URL says it, as redis+cluster://… or redis+sentinel://…'],
  ['REDIS_SENTINEL_MASTER', 'went: REDIS_URL says it, as redis+sentinel://host:26379/mymaster'],
  ['REDIS_USERNAME', IN_REDIS_URL],
  ...secret('REDIS_PASSWORD', IN_REDIS_URL),
  ['REDIS_SENTINEL_USERNAME', OF_SENTINELS],
  ...secret('REDIS_SENTINEL_PASSWORD', OF_SENTINELS),
  ['REDIS_TLS_SERVER_NAME', 'went: REDIS_URL says it, as rediss://…?serverName=…'],
  ...['CA', 'CERT', 'KEY'].map(
    (name) =>
      [`REDIS_TLS_${name}`, `went: set REDIS_TLS_${name}_FILE to a file that holds it`] as const,
  ),
  ['JWT_ALGORITHMS', 'went: RS256, PS256 and ES256 count, as the keys of JWT_JWKS_URL say'],
  ['CONSENT_MAX_WAIT_MS', 'went: REQUEST_TIMEOUT_MS is the longest that a request waits'],
  ['MAX_REPLY_BYTES', 'went: the bound grows with MAX_NUMBERS_PER_OPERATION, from 2 MB on'],
  member('CLIENT_AUTH', 'client.method'),
  member('ASSERTION_KID', 'client.kid'),
  ...['ASSERTION_ALG', 'ASSERTION_AUDIENCE', 'SIGNED_REQUEST'].map(inProfiles),
  member('TLS_CERTIFICATE_FILE', 'tls.certificate'),
  member('TLS_KEY_FILE', 'tls.key'),
  member('TLS_KEY_PASSPHRASE', 'tls.passphrase'),
  member('TLS_KEY_PASSPHRASE_FILE', 'tls.passphrase'),
  member('TLS_CA_FILE', 'tls.ca'),
  member('TLS_SERVER_NAME', 'tls.serverName'),
  member('PROXY_URL', 'proxy.url'),
  member('PROXY_CREDENTIALS', 'proxy.credentials'),
  member('PROXY_CREDENTIALS_FILE', 'proxy.credentials'),
  member('PROXY_CA_FILE', 'proxy.ca'),
  member('OPERATIONS', 'operations'),
  member('SCOPE_RETRIEVE_DATE', 'scopes.retrieve-date'),
  member('SCOPE_CHECK', 'scopes.check'),
  ...['CIBA_GRANT_TYPE', 'CIBA_FIRST_POLL', 'SEND_PHONE_NUMBER'].map(inProfiles),
  member('MAX_AGE_HOURS', 'maxAgeHours'),
  member('DATE_MARGIN_HOURS', 'dateMarginHours'),
  member('TRUST_MONITORED_PERIOD', 'trustMonitoredPeriod'),
  member('CORRELATOR_ECHO', 'echo'),
  ...['HTTP2', 'TOKEN_MISMATCH', 'RETRY_LOOKUPS'].map(inProfiles),
  member('HEADERS', 'headers'),
  member('HEADERS_FILE', 'headers'),
  member('PRICE_CHECK', 'price.check'),
  member('PRICE_RETRIEVE_DATE', 'price.retrieve-date'),
  member('PRICE_CURRENCY', 'price.currency'),
  ['LOG_REQUESTS', 'went: LOG_LEVEL=warn leaves out the lines of requests'],
]);

/** Of an operator: the member of the file that it became, or that profiles have it. */
function member(name: string, path: string): readonly [string, string] {
  return [`OPERATOR_${name}`, `went: name the operator in OPERATORS_FILE, where it is "${path}"`];
}

function inProfiles(name: string): readonly [string, string] {
  return [
    `OPERATOR_${name}`,
    'went into profiles: take one that has it, or write your own (OPERATOR_PROFILE, docs/operators.md)',
  ];
}

/** A secret could be in a file as well. */
function secret(name: string, what: string): readonly (readonly [string, string])[] {
  return [
    [name, what],
    [`${name}_FILE`, what],
  ];
}

/** Connections of the issuer's keys had settings of their own. */
function egress(name: string): readonly [string, string] {
  return [
    `JWT_JWKS_${name}`,
    'went: EGRESS_PROXY_URL, EGRESS_PROXY_CREDENTIALS_FILE and EGRESS_CA_FILE are for all that is not an operator',
  ];
}

function clientCertificate(name: string): readonly [string, string] {
  return [`JWT_JWKS_${name}`, 'went: no client certificate is shown to the issuer of tokens'];
}
