import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { readConfig, type Config } from '../../src/config/config.ts';
import { readManifest } from '../../src/graphql/trustedDocuments.ts';
import { TemporaryFiles } from '../support/temporary.ts';
import { costs, startSimulated, type Reply, type SimulatedService } from '../support/service.ts';

const DOCUMENT = 'query Swapped($e164: ID!) { phoneNumber(e164: $e164) { simSwappedWithin } }';
const LISTED = 'query Date { phoneNumber(e164: "+447700900004") { e164 } }';
const APOLLO = {
  format: 'apollo-persisted-query-manifest',
  version: 1,
  operations: [
    { id: 'swapped', name: 'Swapped', type: 'query', body: DOCUMENT },
    { id: 'listed', name: 'Date', type: 'query', body: LISTED },
  ],
};
const CODEGEN = { swapped: DOCUMENT, listed: LISTED };

const byHash = (sha256Hash: string) => ({ persistedQuery: { version: 1, sha256Hash } });

const files = new TemporaryFiles();

let count = 0;
function manifestFile(content: unknown): string {
  count += 1;
  return files.write(`manifest-${count}.json`, JSON.stringify(content));
}

describe('a manifest', () => {
  it.each([
    ["Apollo's", APOLLO],
    ["GraphQL Codegen's", CODEGEN],
  ])('is read in the form of %s', (_, manifest) => {
    expect(Object.fromEntries(readManifest(JSON.stringify(manifest)) ?? [])).toEqual(CODEGEN);
  });

  it.each([
    ['no JSON', 'query { a }'],
    ['a list', '[]'],
    ['nothing listed', '{}'],
    ['nothing listed by Apollo', JSON.stringify({ ...APOLLO, operations: [] })],
    ['another version', JSON.stringify({ ...APOLLO, version: 2 })],
    ['another format', JSON.stringify({ ...APOLLO, format: 'relay' })],
    ['no operations', JSON.stringify({ ...APOLLO, operations: undefined })],
    ['an operation without a body', JSON.stringify({ ...APOLLO, operations: [{ id: 'a' }] })],
    ['an operation that is null', JSON.stringify({ ...APOLLO, operations: [null] })],
    ['a document that is not a text', '{"swapped": 7}'],
  ])('is refused with %s', (_, text) => {
    expect(readManifest(text)).toBeUndefined();
  });
});

describe('the setting TRUSTED_DOCUMENTS', () => {
  it.each([
    ['a file that is not there', {}, `${files.folder}/none.json`, 'cannot be read'],
    ['a file that is not a manifest', {}, manifestFile([]), 'is not a manifest'],
    ['ROLE=subgraph', { ROLE: 'subgraph' }, '/', 'is for ROLE=bff'],
  ])('is refused with %s', (_, environment, path, problem) => {
    expect(() => readConfig({ ...environment, TRUSTED_DOCUMENTS: path })).toThrow(
      new RegExp(`TRUSTED_DOCUMENTS .*${problem}`),
    );
  });

  it('is refused with documents that do not fit the schema, each by its id', () => {
    const path = manifestFile({ ...CODEGEN, stale: '{ simSwap }', broken: '{' });
    expect(() => readConfig({ TRUSTED_DOCUMENTS: path })).toThrow(
      /2 settings need attention:\n.*stale: Cannot query field "simSwap" on type "Query"\.\n.*broken: Syntax Error: Expected Name, found <EOF>\.$/,
    );
  });
});

/** Reads it again, by a clock on which each step takes a millisecond, and counts the turns of the event loop until then. */
async function readAgain(config: Config, text: string) {
  const { texts, read } = config.trustedDocumentsFile ?? {};
  let nowMs = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (nowMs += 1));
  let turns = 0;
  let isOver = false;
  const countTurns = (): void => {
    turns += 1;
    if (!isOver) setImmediate(countTurns);
  };
  setImmediate(countTurns);
  const now = await read?.(new Map(Array.from(texts?.keys() ?? [], (path) => [path, text])));
  isOver = true;
  clock.mockRestore();
  const documents = now?.kind === 'read' ? now.value : undefined;
  return { now, documents, turns };
}

describe('a manifest that has changed', () => {
  const MANY = 200;
  const manifest = (release: string): string =>
    JSON.stringify(
      Object.fromEntries(Array.from({ length: MANY }, (_, at) => [`${release}${at}`, DOCUMENT])),
    );

  const read = () => readConfig({ TRUSTED_DOCUMENTS: files.write('many.json', manifest('first')) });

  it('is judged in many turns of the event loop, and only what is new', async () => {
    const config = read();
    const all = await readAgain(config, manifest('second'));
    expect(all.documents?.size).toBe(MANY);
    expect(all.turns).toBeGreaterThanOrEqual(MANY / 10);
    const one = { ...JSON.parse(manifest('second')), one: DOCUMENT };
    const again = await readAgain(config, JSON.stringify(one));
    expect(again.documents?.size).toBe(MANY + 1);
    for (const [id, judged] of all.documents ?? []) expect(again.documents?.get(id)).toBe(judged);
  });

  it('is refused as a whole for one document, which the next reading judges again', async () => {
    const config = read();
    const one = { ...JSON.parse(manifest('second')), stale: '{ simSwap }' };
    for (let times = 0; times < 2; times += 1) {
      expect((await readAgain(config, JSON.stringify(one))).now).toEqual({
        kind: 'flawed',
        flaw: 'TRUSTED_DOCUMENTS has a document that cannot be served: stale: Cannot query field "simSwap" on type "Query".',
      });
    }
  });

  it('is refused, and ends no process, for a document on which the stack of the parser ends', async () => {
    const deep = '{ a '.repeat(20_000) + '}'.repeat(20_000);
    const { now } = await readAgain(read(), JSON.stringify({ deep }));
    expect(now).toEqual({
      kind: 'flawed',
      flaw: 'TRUSTED_DOCUMENTS has a document that cannot be served: deep: The document is nested too deep.',
    });
  });

  it('judges a document again whose text has changed under its id', async () => {
    const { now } = await readAgain(read(), JSON.stringify({ first0: '{ simSwap }' }));
    expect(now).toMatchObject({ kind: 'flawed' });
  });
});

describe('a BFF with trusted documents', () => {
  let service: SimulatedService;
  beforeAll(async () => {
    service = await startSimulated({ TRUSTED_DOCUMENTS: manifestFile(APOLLO) });
  });
  beforeEach(() => {
    service.simulator.resetStats();
  });
  afterAll(() => service.stop());

  const variables = { e164: '+447700900002' };

  function post(body: object): Promise<Reply> {
    return service.send('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  }

  function get(parameters: Record<string, string>): Promise<Reply> {
    const search = new URLSearchParams(parameters);
    return service.send(`/graphql?${search.toString()}`, {
      headers: { 'apollo-require-preflight': 'true' },
    });
  }

  const json = JSON.stringify;
  it.each([
    ['documentId', () => post({ documentId: 'swapped', variables })],
    ["the hash of Apollo's clients", () => post({ extensions: byHash('swapped'), variables })],
    ['documentId, by GET', () => get({ documentId: 'swapped', variables: json(variables) })],
    [
      'the hash, by GET',
      () => get({ extensions: json(byHash('swapped')), variables: json(variables) }),
    ],
  ])('serves a listed document by %s', async (_, asking) => {
    const reply = await asking();
    expect(reply.errors).toEqual([]);
    expect(reply.data).toEqual({ phoneNumber: { simSwappedWithin: true } });
    expect(costs(service)).toEqual({ tokens: 1, lookups: 1 });
  });

  const TYPENAME = { query: '{ __typename }' };
  it.each([
    ['a document', () => post({ query: DOCUMENT, variables }), 'ID_REQUIRED'],
    [
      'a document under a listed id',
      () => post({ ...TYPENAME, documentId: 'swapped', variables }),
      'ID_REQUIRED',
    ],
    [
      'a document to be registered under its hash',
      () => post({ query: DOCUMENT, extensions: byHash('other') }),
      'ID_REQUIRED',
    ],
    ['a document by GET', () => get({ query: DOCUMENT }), 'ID_REQUIRED'],
    ['introspection', () => post(TYPENAME), 'ID_REQUIRED'],
    ['an id that is not a text', () => post({ documentId: 7 }), 'ID_REQUIRED'],
    ['nothing', () => post({}), 'ID_REQUIRED'],
    ['an id that is not listed', () => post({ documentId: 'x' }), 'NOT_IN_LIST'],
    ['an id from the prototype', () => post({ documentId: '__proto__' }), 'NOT_IN_LIST'],
  ])('refuses %s, without a lookup', async (_, asking, code) => {
    const reply = await asking();
    expect(reply.status).toBe(400);
    expect(reply.codes).toEqual([`PERSISTED_QUERY_${code}`]);
    expect(costs(service)).toEqual({ tokens: 0, lookups: 0 });
  });
});
