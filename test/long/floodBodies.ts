import { loadLimits } from '../../src/config/loadLimits.ts';
import { times } from '../attack/values.ts';

export const FLOODS = ['megabyte', 'longest', 'heaviest', 'fragments', 'endless'] as const;
export const ROLES = ['bff', 'subgraph'] as const;

export type FloodKind = (typeof FLOODS)[number];
export type Role = (typeof ROLES)[number];

/** A body; its number is between the two texts, another one each time. */
export type AroundNumber = readonly [before: string, after: string];

/** Of a service with 100 numbers an operation. */
const LIMITS = loadLimits(undefined, 100, true).requests;

/** All but the junk of a body. */
const REST_BYTES = 400;
const REST_VALUES = 20;

const PLACES = ['variables', 'body', 'extensions', 'representation'] as const;

const FIELD = 'simSwappedWithin(maxAgeHours: 240)';
const ONE = `query ($n: ID!) { phoneNumber(e164: $n) { ${FIELD} } }`;
const ENTITIES = `query ($r: [_Any!]!) { _entities(representations: $r) { ... on PhoneNumber { ${FIELD} } } }`;

/** Empty lists below fragments in fragments: the service counts millions of fields. */
const FRAGMENTS = `query ($l: [ID!]!) { ${times(56, (n) => `a${n}: phoneNumbers(e164s: $l) { ...F }`)} } fragment F on PhoneNumber { ${times(75, (n) => `a${n}: simSwapCheck { ...C }`)} } fragment C on SimSwapCheck { ${'asOf '.repeat(500)} } #`;

/** Junk in each place that a body of the role has. */
export function bodiesOf(kind: FloodKind, role: Role): readonly AroundNumber[] {
  const withJunk = (junk: string): AroundNumber[] =>
    PLACES.filter((place) => role === 'subgraph' || place !== 'representation').map((place) =>
      bodyWith(role, place, junk),
    );
  switch (kind) {
    case 'megabyte':
      return withJunk(emptyObjects(1_000_000));
    case 'longest':
      return withJunk(emptyObjects(LIMITS.maxBodyBytes - REST_BYTES));
    case 'heaviest': {
      const values = emptyObjects(1.5 * (LIMITS.maxBodyValues - REST_VALUES));
      const text = 'x'.repeat(LIMITS.maxBodyBytes - REST_BYTES - values.length);
      return withJunk(`["${text}",${values}]`);
    }
    case 'fragments':
      return [[`{"query":"${FRAGMENTS}`, '","variables":{"l":[]}}']];
    case 'endless':
      return withJunk(`["${'x'.repeat(300_000)}`);
  }
}

/** What another caller sends. */
export function usualBody(role: Role): AroundNumber {
  return bodyWith(role, 'body', '0');
}

function bodyWith(role: Role, junkIn: (typeof PLACES)[number], junk: string): AroundNumber {
  const inPlace = (place: typeof junkIn): string => (place === junkIn ? `,"x":${junk}` : '');
  const end = `${inPlace('variables')}},"extensions":{"y":0${inPlace('extensions')}}${inPlace('body')}}`;
  return role === 'bff'
    ? [`{"query":"${ONE}","variables":{"n":"`, `"${end}`]
    : [
        `{"query":"${ENTITIES}","variables":{"r":[{"__typename":"PhoneNumber","e164":"`,
        `"${inPlace('representation')}}]${end}`,
      ];
}

/** 3 bytes on the wire for each value, and some 64 on the heap. */
function emptyObjects(bytes: number): string {
  return `[${'{},'.repeat(bytes / 3 - 1)}{}]`;
}

const AREAS = 800;

/** One of 80,000: 555-0100 to 555-0199 are reserved for fiction in every North American area. */
export function numberAt(index: number): string {
  const area = 200 + (Math.floor(index / 100) % AREAS);
  return `+1${area}55501${String(index % 100).padStart(2, '0')}`;
}
