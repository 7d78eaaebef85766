const profile = (names: string): string =>
  `went into profiles: take ${names}, or write your own (docs/operators.md)`;

const OWN = 'went into profiles: write your own (docs/operators.md)';

/** Members of an operator that there were once, each with what took its place: the end of a sentence about it. */
export const GONE_MEMBERS = {
  paths: profile('the one of this operator, such as telefonica, kpn or aggregator-in'),
  'grant.type': 'went: the profile has the grant, and camara-jwt-bearer that of RFC 7523',
  'grant.username': profile('camara-jwt-bearer, kpn or claro, which send none'),
  'grant.inQuery': profile('kpn or mtn'),
  'grant.grantType': profile('orange, telefonica or vodafone-marketplace'),
  'grant.loginHint': OWN,
  'grant.firstPoll': OWN,
  'grant.minIntervalSeconds': OWN,
  'client.assertion':
    'went: client.key is the key, client.kid its name; audience and algorithm are in the profile',
  'client.signedRequest': OWN,
  'client.headers': profile('nokia, which sends client.secret in a header'),
  'scopes.openid': profile('orange or vodafone-marketplace'),
  'scopes.purpose': profile('orange, telefonica or camara-jwt-bearer'),
  'scopes.joinedBy': OWN,
  'tokens.marginSeconds': OWN,
  'tokens.defaultLifetimeSeconds': OWN,
  phoneNumber: profile('aggregator-in, claro or mtn'),
  reading: profile('aggregator-in, mtn or twilio-lookup'),
  retryLookups: OWN,
  errors: profile('claro, telefonica, mtn or twilio-lookup'),
  'correlator.header': profile('aggregator-in or mtn'),
  'correlator.form': profile('mtn'),
  'correlator.echo': 'went: write "echo"',
  http2: OWN,
  tokenMismatch: OWN,
  'limits.permits': 'went: limits.connections bounds the lookups under way as well',
};
