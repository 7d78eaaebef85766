import { slowness } from '../support/slowness.ts';
import { attack, isAtMost, isEqual } from './stage.ts';
import { number, times } from './values.ts';
import { WORST } from './worstDocuments.ts';

/** In bytes: almost the greatest document that a body may have. JSON writes a line's end with two characters. */
const PADDING = 250_000;
const MAX_GROWTH_MB = 64;
/** On a machine as fast as the one that {@link slowness} compares with, like the limits below. */
const MAX_OWN_DELAY_MS = 250;
const MAX_HEAP_MB = 512;
const AT_ONCE = 4;

const X = 'x'.repeat(PADDING);

/** Almost the most values that a body may have; more is not parsed. 3 bytes each on the wire, some 64 on the heap. */
const JUNK = Array.from({ length: 1700 }, () => ({}));

interface Body {
  readonly query: string;
  readonly variables?: object;
  readonly extensions?: object;
}

function typename(beside: Omit<Body, 'query'>): Body {
  return { query: '{ __typename }', ...beside };
}

/** Different bodies, almost the greatest, that hold next to nothing: a document, or all of a body. */
const FLOODS: Readonly<Record<string, (index: number) => string | Body>> = {
  comments: (index) => `${'#\n'.repeat(PADDING / 3)}{ a${index}: __typename }`,
  'one long comment': (index) => `#${X}\n{ a${index}: __typename }`,
  commas: (index) => `${','.repeat(PADDING)}{ a${index}: __typename }`,
  'line ends': (index) => `${'\n'.repeat(PADDING / 2)}{ a${index}: __typename }`,
  'a long string': (index) => `{ phoneNumber(e164: "${index}${X}") { e164 } }`,
  'a long block string': (index) =>
    `{ phoneNumber(e164: """${index}${'\n '.repeat(PADDING / 4)}""") { e164 } }`,
  'a long alias': (index) => `{ a${index}${X}: __typename }`,
  'a long operation name': (index) => `query a${index}${X} { __typename }`,
  'a long unknown field': (index) => `{ a${index}${X} }`,
  'long variables': (index) => typename({ variables: { a: `${index}${X}` } }),
  'deep variables': (index) => typename({ variables: { a: nested(1000, index) } }),
  extensions: (index) =>
    typename({ extensions: { persistedQuery: { version: 1, sha256Hash: `${index}${X}` } } }),
  'junk in variables': (index) => typename({ variables: { a: [index, ...JUNK] } }),
  'junk in extensions': (index) => typename({ extensions: { a: [index, ...JUNK] } }),
  'junk in the body': (index) => ({ ...typename({}), [`a${index}`]: JUNK }),
  'junk in a representation': (index) => ({
    query: 'query ($r: [_Any!]!) { _entities(representations: $r) { __typename } }',
    variables: { r: [{ __typename: 'PhoneNumber', e164: number(index), junk: JUNK }] },
  }),
  'an empty list below fragments in fragments': (index) => ({
    query: `query ($l: [ID!]!) { ${times(56, (field) => `a${index}b${field}: phoneNumbers(e164s: $l) { ...F }`)} }
      fragment F on PhoneNumber { ${times(75, (field) => `a${field}: simSwapCheck { ...C }`)} }
      fragment C on SimSwapCheck { ${'asOf '.repeat(500)} }`,
    variables: { l: [] },
  }),
  'documents as large as tokens allow': (index) =>
    `{ ${times(190, (field) => `a${index}b${field}: phoneNumber(e164: "${number(field)}") { e164 }`)} }`,
};

/** How many bodies are sent; more of those that are kept as they are. */
const BODIES = 32;
const MORE: Readonly<Record<string, number>> = {
  comments: 96,
  'documents as large as tokens allow': 120,
};

/** Tries to fill the heap with documents that are large and hold nothing, with a token without scopes. */
attack('heap-of-documents', async (stage) => {
  const maxDelayMs = MAX_OWN_DELAY_MS * slowness();
  const { issuer, target } = await stage.callers({}, [`--max-old-space-size=${MAX_HEAP_MB}`]);
  const token = await issuer.token();
  for (const [kind, bodyOf] of Object.entries(FLOODS)) {
    const before = await target.figures();
    target.resetDelay();
    const statuses: number[] = [];
    for (let sent = 0; sent < (MORE[kind] ?? BODIES); sent += AT_ONCE) {
      const asking = [0, 1, 2, 3].map(async (n) => {
        const body = bodyOf(sent + n);
        const { query, ...beside } = typeof body === 'string' ? { query: body } : body;
        const { status } = await target.ask(query, token, beside);
        statuses.push(status);
      });
      await Promise.all(asking);
    }
    const broken = statuses.filter((status) => status >= 500 || status === 0);
    isEqual(`${kind}, broken replies`, broken, []);
    isEqual(`${kind}, over the bounds of a body`, statuses.includes(413), false);
    if (target.hasEnded) return;
    const { ownTurnMs } = await target.figures();
    isAtMost(`${kind}, ms of delay`, ownTurnMs, maxDelayMs);
    isAtMost(`${kind}, MB of heap`, await target.grownMb(before), MAX_GROWTH_MB);
  }
});

/** Of the loop, by one request: whose document is new, or was valid before. */
const MAX_NEW_MS = 100;
/** With a thousand errors; others take less than half of it. */
const MAX_KNOWN_MS = 60;
const MAX_MEASUREMENTS = 6;

/** Tries to hold the event loop with one request. */
attack('worst-documents', async (stage) => {
  const slower = slowness();
  const [maxNewMs, maxKnownMs] = [MAX_NEW_MS * slower, MAX_KNOWN_MS * slower];
  for (const role of ['bff', 'subgraph']) {
    const target = await stage.serve(await stage.operator(), { ROLE: role });
    for (const [kind, { query, variables = {}, isOfSubgraph = false }] of Object.entries(WORST)) {
      if (isOfSubgraph !== (role === 'subgraph')) continue;
      let isKept = true;
      const send = async (spaces: number): Promise<void> => {
        const { status } = await target.ask(query + ' '.repeat(spaces), undefined, { variables });
        isEqual(`${kind}, whether it has an answer`, status > 0 && status < 500, true);
        isKept = status === 200;
      };
      const ownTurnMs = async (spaces: number): Promise<number> => {
        target.resetDelay();
        await send(spaces);
        return (await target.figures()).ownTurnMs;
      };
      // Its code is compiled by then.
      for (const spaces of [1, 2, 3]) await send(spaces);
      const newMs = await leastOf((n) => ownTurnMs(4 + n), maxNewMs);
      isAtMost(`${kind}, ms`, newMs, maxNewMs);
      const maxAgainMs = isKept ? maxKnownMs : maxNewMs;
      const againMs = await leastOf(() => ownTurnMs(4), maxAgainMs);
      isAtMost(`${kind} again, ms`, againMs, maxAgainMs);
    }
  }
});

/**
 * The least of some measurements, until one is within the limit: what other programs leave of the caches of a processor
 * differs from one to the next, what is computed does not.
 */
async function leastOf(measure: (n: number) => Promise<number>, limit: number): Promise<number> {
  let least = Infinity;
  for (let n = 0; n < MAX_MEASUREMENTS && least > limit; n += 1) {
    least = Math.min(least, await measure(n));
  }
  return least;
}

function nested(depth: number, innermost: unknown): unknown {
  let value = innermost;
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
}
