import type { Attack } from '../attack.ts';
import { grownMb, type Target } from '../target.ts';
import type { Stage } from '../stage.ts';
import { inTurn, number, times } from '../values.ts';

/** JSON writes a line's end with two characters. */
const PADDING = 1_000_000;
const MAX_GROWTH_MB = 64;
const MAX_OWN_DELAY_MS = 250;
const MAX_HEAP_MB = 512;

/** One-megabyte bodies, each another, that hold next to nothing. */
const FLOODS: Readonly<Record<string, readonly [bodies: number, body: (index: number) => object]>> =
  {
    comments: [24, (index) => ({ query: `${'#\n'.repeat(PADDING / 3)}{ a${index}: __typename }` })],
    'one long comment': [
      6,
      (index) => ({ query: `#${'x'.repeat(PADDING)}\n{ a${index}: __typename }` }),
    ],
    commas: [6, (index) => ({ query: `${','.repeat(PADDING)}{ a${index}: __typename }` })],
    'line ends': [
      6,
      (index) => ({ query: `${'\n'.repeat(PADDING / 2)}{ a${index}: __typename }` }),
    ],
    'a long string': [
      6,
      (index) => ({ query: `{ phoneNumber(e164: "${index}${'x'.repeat(PADDING)}") { e164 } }` }),
    ],
    'a long block string': [
      6,
      (index) => ({
        query: `{ phoneNumber(e164: """${index}${'\n '.repeat(PADDING / 4)}""") { e164 } }`,
      }),
    ],
    'a long alias': [6, (index) => ({ query: `{ a${index}${'x'.repeat(PADDING)}: __typename }` })],
    'a long operation name': [
      6,
      (index) => ({ query: `query a${index}${'x'.repeat(PADDING)} { __typename }` }),
    ],
    'a long unknown field': [6, (index) => ({ query: `{ a${index}${'x'.repeat(PADDING)} }` })],
    'long variables': [
      6,
      (index) => ({ query: '{ __typename }', variables: { a: `${index}${'x'.repeat(PADDING)}` } }),
    ],
    'deep variables': [
      6,
      (index) => ({
        query: '{ __typename }',
        variables: { a: nested(1000, index) },
      }),
    ],
    extensions: [
      6,
      (index) => ({
        query: '{ __typename }',
        extensions: {
          persistedQuery: { version: 1, sha256Hash: `${index}${'x'.repeat(PADDING)}` },
        },
      }),
    ],
    'documents as large as tokens allow': [
      120,
      (index) => ({
        query: `{ ${times(190, (field) => `a${index}b${field}: phoneNumber(e164: "${number(field)}") { e164 }`)} }`,
      }),
    ],
  };

export const heapOfDocuments: Attack = {
  name: 'heap-of-documents',
  tries: 'to fill the heap with documents that are large and hold nothing, without any scope',
  holds: `a heap of ${MAX_HEAP_MB} MB grows by ${MAX_GROWTH_MB} MB at most, and no body blocks the event loop`,
  async run(stage) {
    const flags = [`--max-old-space-size=${MAX_HEAP_MB}`];
    const { issuer, target } = await stage.callers({}, { flags });
    const token = await issuer.token();
    for (const [kind, [bodies, body]] of Object.entries(FLOODS)) {
      if (!(await flood(stage, target, { kind, bodies, body, token }))) return;
    }
  },
};

interface Flood {
  readonly kind: string;
  readonly bodies: number;
  readonly body: (index: number) => object;
  readonly token: string;
}

/** Whether the process is there for more. */
async function flood(
  stage: Stage,
  target: Target,
  { kind, bodies, body, token }: Flood,
): Promise<boolean> {
  const before = await target.figures();
  target.resetDelay();
  let broken = 0;
  await inTurn(Array(bodies).keys(), 4, async (index) => {
    const { status } = await target.post(JSON.stringify(body(index)), { token });
    if (status >= 500 || status === 0) broken += 1;
  });
  if (target.exit !== undefined) return false;
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
