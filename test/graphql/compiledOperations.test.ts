import {
  execute,
  getOperationAST,
  parse,
  validate,
  type DocumentNode,
  type SourceLocation,
} from 'graphql';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { instantAt } from '../../src/domain/instant.ts';
import { LookupError } from '../../src/errors.ts';
import { coerceVariables } from '../../src/graphql/askedCount.ts';
import { CompiledOperations } from '../../src/graphql/compiledOperations.ts';
import { createSchema, type Role } from '../../src/graphql/schema.ts';
import { ALICE, BOB } from '../values.ts';

const SCHEMAS = { bff: createSchema('bff'), subgraph: createSchema('subgraph') };
const ENOUGH_USES = 4;

/** Answers that depend on the question, so that a mix-up shows; some of them fail. */
function createContext({ failsWith }: { failsWith?: () => Error } = {}) {
  const answer = <T>(value: T, seed: number): Promise<T> =>
    failsWith !== undefined && seed % 4 < 2 ? Promise.reject(failsWith()) : Promise.resolve(value);
  return {
    caller: { key: 'test', mayAskAboutAnyone: true, ownNumber: ALICE },
    simSwaps: {
      lastSimSwap: (number: string) =>
        answer(number === ALICE ? instantAt(1_700_000_000_000) : null, lastDigit(number)),
      simSwappedWithin: (number: string, hours: number) =>
        answer((hours + lastDigit(number)) % 2 === 0, hours + lastDigit(number)),
      consent: () => answer({ state: 'PENDING', retryAfterSeconds: 5 }, 2),
    },
  };
}

function lastDigit(number: string): number {
  return Number(number.slice(-1));
}

const failedLookup = () => new LookupError({ code: 'OPERATOR_UNAVAILABLE', reach: 'number' });

async function both(
  role: Role,
  document: DocumentNode,
  variables: Readonly<Record<string, unknown>>,
  context = createContext(),
) {
  const schema = SCHEMAS[role];
  const operation = getOperationAST(document);
  const coerced = operation && coerceVariables(schema, operation, variables);
  if (!operation || !coerced)
    throw new Error('The test is no operation, or its variables do not fit.');
  const compiledOperations = new CompiledOperations(schema);
  let compiled;
  for (let use = 0; use < ENOUGH_USES; use += 1) {
    compiled = await compiledOperations.execute(document, operation, coerced, context);
  }
  const executed = await execute({
    schema,
    document,
    contextValue: context,
    variableValues: variables,
  });
  return { compiled, executed };
}

describe('an operation that is compiled', () => {
  const leaf = fc.constantFrom(
    'e164',
    '__typename',
    'lastSimSwap',
    'simSwappedWithin',
    'simSwappedWithin(maxAgeHours: 3)',
    'simSwappedWithin(maxAgeHours: $hours)',
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
          const document = parse(`${header} { ${used} }`);
          // Two fields of one name that ask different things, for example.
          fc.pre(validate(SCHEMAS[role], document).length === 0);
          const context = createContext(fails ? { failsWith: failedLookup } : {});
          const { compiled, executed } = await both(role, document, variables[role], context);
          if (compiled === undefined) return;
          compared.all += 1;
          if (compiled.failures.length > 0) compared.failing += 1;
          expect(JSON.stringify(compiled.data)).toBe(JSON.stringify(executed.data));
          expect(failuresIn(compiled.failures)).toEqual(failuresIn(executed.errors ?? []));
        },
      ),
      { numRuns: 500 },
    );
    expect(compared.all).toBeGreaterThan(100);
    expect(compared.failing).toBeGreaterThan(20);
  });

  it.each([
    ['a directive', 'query ($no: Boolean!) { myPhoneNumber @skip(if: $no) { e164 } }'],
    ['a fragment', '{ myPhoneNumber { ...F } } fragment F on PhoneNumber { e164 }'],
    ['introspection', '{ __schema { queryType { name } } }'],
    ['very many fields', `{ myPhoneNumber { ${names(33)} } }`],
  ])('has no %s', async (_what, text) => {
    const { compiled, executed } = await both('bff', parse(text), { no: false });
    expect(executed.errors).toBeUndefined();
    expect(compiled).toBeUndefined();
  });

  it('came more than three times before', async () => {
    const document = parse('{ myPhoneNumber { e164 } }');
    const operation = getOperationAST(document);
    if (!operation) throw new Error('The test has no operation.');
    const operations = new CompiledOperations(SCHEMAS.bff);
    const run = () => operations.execute(document, operation, {}, createContext());
    expect([await run(), await run(), await run()]).toEqual([undefined, undefined, undefined]);
    expect(await run()).toEqual({ data: { myPhoneNumber: { e164: ALICE } }, failures: [] });
  });

  it('is forgotten when others have come since', async () => {
    const documents = ['{ myPhoneNumber { e164 } }', '{ a: myPhoneNumber { e164 } }'].map((text) =>
      parse(text),
    );
    const operations = new CompiledOperations(SCHEMAS.bff, 1);
    for (let use = 0; use < 2 * ENOUGH_USES; use += 1) {
      const document = documents[use % 2];
      const operation = document && getOperationAST(document);
      if (!document || !operation) throw new Error('The test has no operation.');
      expect(await operations.execute(document, operation, {}, createContext())).toBeUndefined();
    }
  });

  it('leaves every error but a failed lookup to graphql-js', async () => {
    const document = parse('{ phoneNumbers(e164s: ["+447700900004"]) { e164 lastSimSwap } }');
    const failing = createContext({ failsWith: () => new Error('a defect of ours') });
    const { compiled, executed } = await both('bff', document, {}, failing);
    expect(compiled).toBeUndefined();
    expect(executed.errors).toHaveLength(1);
  });

  it('leaves a number that is none to graphql-js', async () => {
    const document = parse('{ phoneNumbers(e164s: ["112"]) { e164 } }');
    const { compiled, executed } = await both('bff', document, {});
    expect(compiled).toBeUndefined();
    expect(executed.errors).toHaveLength(1);
  });
});

/** What failed where; which of them failed first is nobody's promise. */
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

/** So many fields, each of a name of its own. */
function names(count: number): string {
  return Array.from({ length: count }, (_, index) => `f${index}: e164`).join(' ');
}
