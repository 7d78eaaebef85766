import type { Path } from './document.ts';

const OWN = 'or write your own (docs/operators.md)';
const profile = (names: string): string => `went into profiles: take ${names}, ${OWN}`;

/** Members of an operator that there were once, each with what took its place: the end of a sentence about it. */
export const GONE_MEMBERS: readonly (readonly [path: Path, what: string])[] = [
  [['paths'], profile('the one of this operator, such as telefonica, kpn or aggregator-in')],
  [['grant', 'type'], 'went: the profile has the grant, and camara-jwt-bearer that of RFC 7523'],
  [['grant', 'username'], profile('camara-jwt-bearer, kpn or claro, which send none')],
  [['grant', 'inQuery'], profile('kpn or mtn')],
  [['grant', 'grantType'], profile('orange, telefonica or vodafone-marketplace')],
  [['grant', 'loginHint'], `went into profiles: write your own (docs/operators.md)`],
  [['grant', 'firstPoll'], `went into profiles: write your own (docs/operators.md)`],
  [['grant', 'minIntervalSeconds'], `went into profiles: write your own (docs/operators.md)`],
  [
    ['client', 'assertion'],
    'went: client.key is the key, client.kid its name; audience and algorithm are in the profile',
  ],
  [['client', 'signedRequest'], `went into profiles: write your own (docs/operators.md)`],
  [['client', 'headers'], profile('nokia, which sends client.secret in a header')],
  [['scopes', 'openid'], profile('orange or vodafone-marketplace')],
  [['scopes', 'purpose'], profile('orange, telefonica or camara-jwt-bearer')],
  [['scopes', 'joinedBy'], `went into profiles: write your own (docs/operators.md)`],
  [['tokens', 'marginSeconds'], `went into profiles: write your own (docs/operators.md)`],
  [['tokens', 'defaultLifetimeSeconds'], `went into profiles: write your own (docs/operators.md)`],
  [['phoneNumber'], profile('aggregator-in, claro or mtn')],
  [['reading'], profile('aggregator-in, mtn or twilio-lookup')],
  [['retryLookups'], `went into profiles: write your own (docs/operators.md)`],
  [['errors'], profile('claro, telefonica, mtn or twilio-lookup')],
  [['correlator', 'header'], profile('aggregator-in or mtn')],
  [['correlator', 'form'], profile('mtn')],
  [['correlator', 'echo'], 'went: write "echo"'],
  [['http2'], `went into profiles: write your own (docs/operators.md)`],
  [['tokenMismatch'], `went into profiles: write your own (docs/operators.md)`],
  [['limits', 'permits'], 'went: limits.connections bounds the lookups under way as well'],
];
