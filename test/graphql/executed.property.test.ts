import { execute, parse, validate, type SourceLocation } from 'graphql';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FieldQuestion } from '../../src/domain/fields.ts';
import { instantAt } from '../../src/domain/instant.ts';
import { lookupFailed } from '../../src/graphql/answerErrors.ts';
import { createApolloServer } from '../../src/graphql/apollo.ts';
import { createSchema, type Role } from '../../src/graphql/schema.ts';
import type { FieldAnswer } from '../../src/lookups/executor.ts';
import { inForm } from '../forms.ts';
import { silentLog } from '../silentLog.ts';
import { ALICE, BOB } from '../values.ts';
import { requestAnswering } from './requestAnswering.ts';

const SCHEMAS = { bff: createSchema('bff'), subgraph: createSchema('subgraph') };
const LIMITS = {
  maxNumbersPerOperation: 100,
  maxQuestionsPerNumber: 100,
  maxReplyBytes: 2_000_000,
};
const SERVERS = {
  bff: createApolloServer({ role: 'bff', production: false, limits: LIMITS }, silentLog),
  subgraph: createApolloServer({ role: 'subgraph', production: false, limits: LIMITS }, silentLog),
};

beforeAll(() => Promise.all([SERVERS.bff.start(), SERVERS.subgraph.start()]));
afterAll(() => Promise.all([SERVERS.bff.stop(), SERVERS.subgraph.stop()]));

/** Answers that depend on the question, so that a mix-up shows; some of them fail. */
function createContext({ failsWith }: { failsWith?: () => Error } = {}) {
  const answer = (value: FieldAnswer, seed: number): FieldAnswer | Error =>
    failsWith !== undefined && seed % 4 < 2 ? failsWith() : value;
  const tell = (number: string, asked: FieldQuestion): FieldAnswer | Error => {
    const asOfMs = 1_700_000_000_000;
    switch (asked.asks) {
      case 'date': {
        const latestSimChange = number === ALICE ? instantAt(asOfMs) : null;
        return answer({ kind: 'date', latestSimChange, asOfMs, from: [] }, lastDigit(number));
      }
      case 'window': {
        const seed = asked.maxAgeHours + lastDigit(number);
        return answer({ kind: 'window', swapped: seed % 2 === 0, asOfMs, from: [] }, seed);
      }
      case 'consent':
        return answer({ kind: 'consent', consent: { state: 'PENDING', retryAfterSeconds: 5 } }, 2);
    }
  };
  return { request: requestAnswering(tell) };
}

function lastDigit(number: string): number {
  return Number(number.slice(-1));
}

const failedLookup = () => lookupFailed({ code: 'OPERATOR_UNAVAILABLE', reach: 'number' });

/** What the service makes of a document, and what graphql-js does by itself. */
async function both(
  role: Role,
  query: string,
  variables: Readonly<Record<string, unknown>>,
  contextValue: ReturnType<typeof createContext>,
) {
  const { body } = await SERVERS[role].executeOperation({ query, variables }, { contextValue });
  if (body.kind !== 'single') throw new Error('A query has a single result.');
  const executed = await execute({
    schema: SCHEMAS[role],
    document: parse(query),
    contextValue,
    variableValues: variables,
  });
  return { served: body.singleResult, executed };
}

describe('an operation', () => {
  const leaf = fc.constantFrom(
    'e164',
    '__typename',
    'lastSimSwap',
    'simSwappedWithin',
    'simSwappedWithin(maxAgeHours: 3)',
    'simSwappedWithin(maxAgeHours: $hours)',
    'simSwapCheck(maxAgeHours: 3) { result reason asOf }',
    'simSwapCheck(maxAgeHours: $hours) { r: result __typename retryAfterSeconds }',
    'simSwapConsent { state retryAfterSeconds expiresAt }',
    'simSwapConsent { __typename s: state }',
  );
  const alias = fc.constantFrom('', 'a: ', 'b: ', 'c: ');
  const field = fc.tuple(alias, leaf).map((parts) => parts.join(''));
  const { tree: selection } = fc.letrec<{ tree: string; node: string }>((tie) => ({
    node: fc.oneof(
      { arbitrary: field, weight: 4 },
      { arbitrary: tie('tree').map((inner) => `... on PhoneNumber ${inner}`), weight: 1 },
    ),
    tree: fc
      .array(tie('node'), { minLength: 1, maxLength: 6, depthIdentifier: 'tree' })
      .map((nodes) => `{ ${nodes.join(' ')} }`),
  }));
  const root = {
    bff: fc.constantFrom(
      'phoneNumber(e164: $one)',
      'phoneNumbers(e164s: $many)',
      `phoneNumbers(e164s: ["${ALICE}", $one])`,
      'myPhoneNumber',
    ),
    subgraph: fc.constant('_entities(representations: $representations)'),
  };
  const declared = {
    bff: 'query ($one: ID!, $many: [ID!]!, $hours: Int! = 7)',
    subgraph: 'query ($representations: [_Any!]!, $hours: Int! = 7)',
  };
  const variables = {
    bff: { one: BOB, many: [ALICE, BOB, ALICE] },
    subgraph: {
      representations: [ALICE, BOB].map((e164) => ({ __typename: 'PhoneNumber', e164 })),
    },
  };

  it.each<Role>(['bff', 'subgraph'])('brings what graphql-js brings: %s', async (role) => {
    const compared = { all: 0, failing: 0 };
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(alias, root[role], selection), { minLength: 1, maxLength: 3 }),
        fc.boolean(),
        async (roots, fails) => {
          const entity = role === 'subgraph';
          const asked = roots.map(([name, call, inner]) =>
            entity ? `${name}${call} { ... on PhoneNumber ${inner} }` : `${name}${call} ${inner}`,
          );
          const used = asked.join(' ');
          // A variable that is declared and not used is refused before anything is executed.
          const header = declared[role]
            .replaceAll(/\$(\w+): [^,)]+(?:, )?/g, (one, name: string) =>
              used.includes(`$${name}`) ? one : '',
            )
            .replace(/, \)/, ')')
            .replace('()', '');
          const query = `${header} { ${used} }`;
          // Two fields of one name that ask different things, for example.
          fc.pre(validate(SCHEMAS[role], parse(query)).length === 0);
          const context = createContext(fails ? { failsWith: failedLookup } : {});
          // As often as anything that learns documents could need.
          for (let time = 0; time < 5; time += 1) {
            const { served, executed } = await both(role, query, variables[role], context);
            compared.all += 1;
            if (served.errors !== undefined) compared.failing += 1;
            expect(JSON.stringify(served.data)).toBe(JSON.stringify(executed.data));
            expect(failuresIn(served.errors ?? [])).toEqual(failuresIn(executed.errors ?? []));
          }
        },
      ),
      { numRuns: inForm({ short: 50, long: 200 }) },
    );
    expect(compared.all).toBeGreaterThan(100);
    expect(compared.failing).toBeGreaterThan(20);
  });
});

/** What failed where; which of them failed first is not promised. */
function failuresIn(
  errors: readonly {
    readonly path?: readonly (string | number)[] | undefined;
    readonly locations?: readonly SourceLocation[] | undefined;
  }[],
) {
  return errors
    .map(({ path, locations }) => JSON.stringify({ path, locations: locations ?? [] }))
    .toSorted();
}
