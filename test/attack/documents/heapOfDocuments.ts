import type { Attack } from '../attack.ts';
import { grownMb, type Target } from '../target.ts';
import type { Stage } from '../stage.ts';
import { inTurn, number, times } from '../values.ts';

/** JSON writes a line's end with two characters. */
const PADDING = 1_000_000;
const MAX_GROWTH_MB = 64;
const MAX_OWN_DELAY_MS = 250;
const MAX_HEAP_MB = 512;

const X = 'x'.repeat(PADDING);
const typename = (more: object) => ({ query: '{ __typename }', ...more });

/** One-megabyte bodies, each another, that hold next to nothing: a document, or all of a body. */
const FLOODS: Readonly<Record<string, (index: number) => string | object>> = {
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
  'documents as large as tokens allow': (index) =>
    `{ ${times(190, (field) => `a${index}b${field}: phoneNumber(e164: "${number(field)}") { e164 }`)} }`,
};

/** How many bodies make a flood; of those that are stored as they are, more. */
const BODIES = 6;
const MORE: Readonly<Record<string, number>> = {
  comments: 24,
  'documents as large as tokens allow': 120,
};

export const heapOfDocuments: Attack = {
  name: 'heap-of-documents',
  tries: 'to fill the heap with documents that are large and hold nothing, without any scope',
  holds: `a heap of ${MAX_HEAP_MB} MB grows by ${MAX_GROWTH_MB} MB at most, and no body blocks the event loop`,
  async run(stage) {
    const flags = [`--max-old-space-size=${MAX_HEAP_MB}`];
    const { issuer, target } = await stage.callers({}, { flags });
    const token = await issuer.token();
    for (const kind of Object.keys(FLOODS)) {
      if (!(await flood(stage, target, kind, token))) return;
    }
  },
};

/** Whether the process is there for more. */
async function flood(stage: Stage, target: Target, kind: string, token: string): Promise<boolean> {
  const before = await target.figures();
  target.resetDelay();
  let broken = 0;
  await inTurn(Array(MORE[kind] ?? BODIES).keys(), 4, async (index) => {
    const body = FLOODS[kind]?.(index) ?? '';
    const sent = typeof body === 'string' ? { query: body } : body;
    const { status } = await target.post(JSON.stringify(sent), { token });
    if (status >= 500 || status === 0) broken += 1;
  });
  if (target.hasEnded) return false;
  const after = await target.figures();
  stage.atMost(`${kind}, MB of heap`, grownMb(before, after), MAX_GROWTH_MB);
  stage.atMost(`${kind}, ms of delay`, after.ownTurnMs, MAX_OWN_DELAY_MS);
  if (broken > 0) stage.equals(`${kind}, broken replies`, broken, 0);
  return true;
}

function nested(depth: number, innermost: unknown): unknown {
  let value = innermost;
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
}
