import { makeExecutableSchema } from '@graphql-tools/schema';
import fc from 'fast-check';
import {
  execute,
  getOperationAST,
  parse,
  type DocumentNode,
  type GraphQLFormattedError,
  type GraphQLSchema,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import type { RequestContext } from '../../src/graphql/request.ts';
import type { FieldQuestion } from '../../src/domain/fields.ts';
import type { LookupFailure, LookupFailureCode } from '../../src/domain/errors.ts';
import { startApolloServer } from '../../src/graphql/apollo.ts';
import { costOf, mostOf } from '../../src/graphql/operationCost.ts';
import { WEIGHTS } from '../../src/graphql/replyBytes.ts';
import { createSchema } from '../../src/graphql/schema.ts';
import { typeDefsOf } from '../../src/graphql/typeDefs.ts';
import { mountedResolvers } from '../../src/library/mountedResolvers.ts';
import { MountedRequest } from '../../src/library/mountedRequest.ts';
import type { FieldAnswer } from '../../src/lookups/executor.ts';
import { FIELD_CODES } from '../support/fieldCodes.ts';
import { inForm } from '../support/forms.ts';
import { silentLog } from '../support/silentLog.ts';
import { admitted, partsAnswering, requestAnswering } from './requestAnswering.ts';

const A = '+447700900500';

const RUNS = inForm({ short: 25, long: 1000 });
const RUNS_MOUNTED = inForm({ short: 20, long: 1000 });

const LIMITS = { maxNumbersPerOperation: 1e6, maxQuestionsPerNumber: 1e6, maxReplyBytes: 1e9 };

const CODES = FIELD_CODES as readonly LookupFailureCode[];

/** One answer in `failsEach` fails, for each reason in turn. */
function longWindedAnswers(failsEach: number, codes = CODES) {
  const epochMs = 1_900_000_000_000;
  const latestSimChange = { text: '2026-03-14T10:26:53.123456789+01:00', epochMs };
  let count = 0;
  return (_number: string, asked: FieldQuestion): FieldAnswer => {
    count += 1;
    const code = codes[count % (failsEach * codes.length)];
    if (code !== undefined && asked.about !== 'consent') {
      return { kind: 'failure', failure: longestFailure(code) };
    }
    switch (asked.about) {
      case 'date':
        return { kind: 'date', latestSimChange, asOfMs: epochMs, from: [] };
      case 'window':
        return { kind: 'window', swapped: false, asOfMs: epochMs, from: [] };
      case 'consent':
        return {
          kind: 'consent',
          consent: { state: 'NOT_NEEDED', retryAfterSeconds: 86_400, expiresAtMs: epochMs },
        };
    }
  };
}

const CORRELATOR = long(300);
const CONFIG = { docsUrl: `https://${long(92)}` };

function longWindedContext(failsEach: number, codes = CODES): RequestContext {
  const changes = { correlator: CORRELATOR, config: CONFIG };
  return { request: requestAnswering(longWindedAnswers(failsEach, codes), changes) };
}

/** With everything that may be beside its code. */
function longestFailure(code: LookupFailureCode): LookupFailure {
  return {
    code,
    reach: 'number',
    retryAfterSeconds: 86_400,
    ...(code === 'CONSENT_PENDING' ? { expiresAtMs: 1_900_000_000_000 } : {}),
    ...(code === 'RATE_LIMITED' ? { quota: 'prompts' } : {}),
    ...(code === 'PERIOD_NOT_SUPPORTED' ? { maxAgeHours: 2400 } : {}),
  };
}

const ALIAS = fc
  .tuple(fc.constantFrom('a', 'b'), fc.integer({ min: 0, max: 300 }), fc.nat())
  .map(([letter, length, rest]) => `${letter.repeat(length + 1)}${rest}: `);
const aliased = (fields: fc.Arbitrary<string>) =>
  fc.tuple(ALIAS, fields).map((two) => two.join(''));
const selection = (fields: fc.Arbitrary<string>) =>
  fc.array(aliased(fields), { minLength: 1, maxLength: 8 }).map((all) => `{ ${all.join(' ')} }`);

const CONSENT_FIELDS = selection(
  fc.constantFrom('state', 'retryAfterSeconds', 'expiresAt', '__typename'),
).map((below) => `simSwapConsent ${below}`);
const CHECK_FIELDS = selection(
  fc.constantFrom('result', 'reason', 'retryAfterSeconds', 'expiresAt', 'maxAgeHours', 'asOf'),
).map((below) => `simSwapCheck ${below}`);
const NUMBER_FIELDS = selection(
  fc.oneof(
    fc.constantFrom('e164', '__typename', 'lastSimSwap', 'simSwappedWithin(maxAgeHours: $null)'),
    fc.integer({ min: -1, max: 2402 }).map((hours) => `simSwappedWithin(maxAgeHours: ${hours})`),
    CONSENT_FIELDS,
    CHECK_FIELDS,
  ),
).map((fields) => (fields.length % 3 === 0 ? `{ ... on PhoneNumber ${fields} }` : fields));
const TYPE_FIELDS = fc.constantFrom(
  'name description',
  'fields { name description args { name defaultValue type { name ofType { kind } } } }',
  'enumValues { name description } __typename',
  'possibleTypes { name } interfaces { name } inputFields { name }',
);
const KNOWN_FIELDS = fc.oneof(
  TYPE_FIELDS.map((below) => `__schema { types { ${below} } directives { name locations } }`),
  TYPE_FIELDS.map((below) => `__type(name: "PhoneNumber") { ${below} }`),
  fc.constant('__typename'),
);
/** Mostly numbers: an invalid one has one error, and a number one for each field. */
const NUMBERS = fc.array(fc.constantFrom(A, A, A, A, 'none', '0044', '+44x'), { maxLength: 25 });

const LISTS = fc
  .tuple(NUMBERS, NUMBER_FIELDS)
  .map(([l, below]) => `phoneNumbers(e164s: ${JSON.stringify(l)}) ${below}`);

const OPERATIONS = {
  bff: selection(
    fc.oneof(
      LISTS,
      NUMBER_FIELDS.map((below) => `phoneNumbers(e164s: [$id, "${long(500)}"]) ${below}`),
      NUMBER_FIELDS.map((below) => `phoneNumber(e164: "${A}") ${below}`),
      NUMBER_FIELDS.map((below) => `myPhoneNumber ${below}`),
      KNOWN_FIELDS,
    ),
  ),
  subgraph: selection(
    fc.oneof(
      fc
        .tuple(NUMBERS, NUMBER_FIELDS)
        .map(
          ([l, below]) =>
            `_entities(representations: [${l.map((e164) => `{__typename: "PhoneNumber", e164: "${e164}"}`).join(' ')} 7]) { ... on PhoneNumber ${below} }`,
        ),
      fc.constant('_service { sdl }'),
      KNOWN_FIELDS,
    ),
  ),
};

/** GraphQL refuses variables that nothing uses. */
const START = {
  bff: 'query ($null: Int = 1, $id: ID = "") { u: phoneNumber(e164: $id) { u: simSwappedWithin(maxAgeHours: $null) }',
  subgraph:
    'query ($null: Int = 1) { u: _entities(representations: []) { ... on PhoneNumber { u: simSwappedWithin(maxAgeHours: $null) } }',
};

describe('an operation', () => {
  it.each(['bff', 'subgraph'] as const)(
    'of the %s has the result of graphql-js, in no more bytes than are counted',
    async (role) => {
      const server = await startApolloServer(
        { role, production: false, limits: LIMITS, load: { storeBytes: Infinity } },
        silentLog,
      );
      const schema = createSchema(role);
      const compared = { all: 0, failing: 0 };
      await fc.assert(
        fc.asyncProperty(OPERATIONS[role], fc.constantFrom(1, 3), async (selected, failsEach) => {
          const query = `${START[role]} ... ${selected} }`;
          const variables = { null: null, id: null };
          // What is learned of a document changes nothing the next time.
          await serve(server, query, variables, failsEach);
          const served = await serve(server, query, variables, failsEach);
          fc.pre(served.data !== undefined);

          const document = parse(query);
          const contextValue = longWindedContext(failsEach);
          const executed = await execute({
            schema,
            document,
            contextValue,
            variableValues: variables,
          });
          expect(JSON.stringify(served.data)).toBe(JSON.stringify(executed.data));
          expect(failuresIn(served.errors)).toEqual(
            failuresIn(executed.errors?.map((error) => error.toJSON())),
          );

          expect(countedBytes(schema, document, variables)).toBeGreaterThanOrEqual(bytesOf(served));
          compared.all += 1;
          if ((served.errors ?? []).length > 2) compared.failing += 1;
        }),
        { numRuns: RUNS },
      );
      expect(compared.all).toBeGreaterThan(RUNS / 2);
      expect(compared.failing).toBeGreaterThan(RUNS / 5);
      await server.stop();
    },
    inForm({ short: 60_000, long: 300_000 }),
  );
});

it(
  'mounted, where no rule of ours bounds a document, a reply has no more bytes than are counted',
  async () => {
    const resolvers = mountedResolvers('bff', silentLog);
    const schema = makeExecutableSchema({ typeDefs: typeDefsOf('bff'), resolvers });
    const executed = async (query: string, failsEach: number, maxReplyBytes: number) => {
      const parts = partsAnswering(longWindedAnswers(failsEach));
      const config = { ...CONFIG, limits: { ...LIMITS, maxReplyBytes } };
      const mounted = new MountedRequest(
        { ...parts, config },
        { timeoutMs: 60_000, correlator: CORRELATOR },
        admitted(),
      );
      const { data, errors = [] } = await execute({
        schema,
        document: parse(query),
        contextValue: { simSwap: mounted },
        variableValues: { null: null, id: A },
      });
      const formatted = errors.map((error) => error.toJSON());
      const codes = formatted.map(({ extensions }) => extensions?.['code']);
      const isOver = codes.includes('LOOKUP_LIMIT_EXCEEDED');
      return { isOver, bytes: bytesOf({ data, errors: formatted }), errors: formatted.length };
    };
    let refused = 0;
    const numbers = fc.oneof(
      LISTS,
      NUMBER_FIELDS.map((below) => `phoneNumber(e164: "${A}") ${below}`),
    );
    await fc.assert(
      fc.asyncProperty(selection(numbers), fc.constantFrom(1, 3), async (selected, failsEach) => {
        const query = `${START.bff} ... ${selected} }`;
        const whole = await executed(query, failsEach, 1e9);
        expect(whole.isOver).toBe(false);
        // What is around the numbers, once, is no longer than the document.
        const counted = whole.bytes - WEIGHTS.envelope - query.length;
        if (counted <= 0) return;
        expect((await executed(query, failsEach, counted - 1)).isOver).toBe(true);
        refused += 1;
      }),
      { numRuns: RUNS_MOUNTED },
    );
    expect(refused).toBeGreaterThan(RUNS_MOUNTED / 3);
  },
  inForm({ short: 60_000, long: 300_000 }),
);

it('a list of the longest failures has no more bytes than are counted, and little fewer', async () => {
  const server = await startApolloServer(
    { role: 'bff', production: false, limits: LIMITS, load: { storeBytes: Infinity } },
    silentLog,
  );
  const fields = Array.from({ length: 20 }, (_, n) => `w${n}: simSwappedWithin`).join(' ');
  const numbers = JSON.stringify(Array.from({ length: 50 }, () => A));
  const query = `{ phoneNumbers(e164s: ${numbers}) { ${fields} } }`;
  const served = await serve(server, query, {}, 1, ['AUDIT_UNAVAILABLE']);
  expect(served.errors).toHaveLength(1000);
  const counted = countedBytes(createSchema('bff'), parse(query), {});
  expect(counted).toBeGreaterThanOrEqual(bytesOf(served));
  expect(counted).toBeLessThan(1.2 * bytesOf(served));
  await server.stop();
});

async function serve(
  server: Awaited<ReturnType<typeof startApolloServer>>,
  query: string,
  variables: Record<string, unknown>,
  failsEach: number,
  codes = CODES,
) {
  const contextValue = longWindedContext(failsEach, codes);
  const { body } = await server.executeOperation({ query, variables }, { contextValue });
  if (body.kind !== 'single') throw new Error('A query has a single result.');
  return body.singleResult;
}

function countedBytes(
  schema: GraphQLSchema,
  document: DocumentNode,
  variables: Record<string, unknown>,
) {
  const operation = getOperationAST(document);
  if (operation === null || operation === undefined) throw new Error('No operation.');
  const incoming = { schema, document, operation, variables };
  return costOf(incoming, mostOf(LIMITS), new WeakMap())?.replyBytes;
}

function bytesOf(result: object): number {
  return Buffer.byteLength(JSON.stringify(result));
}

/** What failed where. */
function failuresIn(errors: readonly GraphQLFormattedError[] = []): readonly string[] {
  return errors.map(({ path, locations }) => JSON.stringify({ path, locations }));
}

function long(length: number): string {
  return 'a'.repeat(length);
}
