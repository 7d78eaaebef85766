import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestIssuer } from '../caller/testIssuer.ts';
import { startSimulated, type SimulatedService } from '../service.ts';

const ROLES = ['bff', 'subgraph'] as const;
const INTROSPECTIONS = [
  '{ __schema { queryType { name } } }',
  '{ __type(name: "Query") { name } }',
];

const SECRET = 'a-secret-of-thirty-two-characters';

let issuer: TestIssuer;
let headers: Readonly<Record<string, string>>;

beforeAll(async () => {
  issuer = await TestIssuer.start();
  headers = { authorization: `Bearer ${await issuer.token()}`, 'x-router-secret': SECRET };
});
afterAll(() => issuer.close());

function settingsOf(role: (typeof ROLES)[number]): Record<string, string> {
  const router: Record<string, string> = role === 'subgraph' ? { ROUTER_SECRET: SECRET } : {};
  return { ...issuer.settings, ...router, ROLE: role, NODE_ENV: 'production', AUDIT_KEY: SECRET };
}

describe.each(ROLES)('in production, the %s', (role) => {
  let service: SimulatedService;
  beforeAll(async () => {
    service = await startSimulated(settingsOf(role));
  });
  afterAll(() => service.stop());

  it.each(INTROSPECTIONS)('does not tell its schema to a caller: %s', async (query) => {
    const reply = await service.ask(query, {}, headers);
    expect(reply.status).toBe(400);
    expect(reply.data).toBeUndefined();
    expect(reply.codes).toEqual(['GRAPHQL_VALIDATION_FAILED']);
    expect(reply.errors[0]?.message).toBe(
      'Introspection is off in production. Read the schema in schema/ of the release, or introspect a server that runs without NODE_ENV=production.',
    );
  });

  it('does not tell it by way of suggestions either', async () => {
    const reply = await service.ask(role === 'bff' ? '{ phoneNumbe }' : '{ _servic }', {}, headers);
    expect(reply.codes).toEqual(['GRAPHQL_VALIDATION_FAILED']);
    expect(reply.text).not.toContain('Did you mean');
  });

  it('still names types', async () => {
    const reply = await service.ask('{ __typename }', {}, headers);
    expect(reply.data).toEqual({ __typename: 'Query' });
  });
});

it('a router gets the SDL of the subgraph in production as well', async () => {
  await using service = await startSimulated(settingsOf('subgraph'));
  const reply = await service.ask('{ _service { sdl } }', {}, headers);
  expect(reply.errors).toEqual([]);
  expect(reply.data._service.sdl).toMatch(/type PhoneNumber\s+@key\(fields: "e164"\)/);
});

it.each(ROLES)('elsewhere, the %s tells its schema, and helps with typos', async (role) => {
  await using service = await startSimulated({ ROLE: role });
  for (const query of INTROSPECTIONS) {
    const reply = await service.ask(query);
    expect(reply.errors).toEqual([]);
    expect(reply.text).toContain('"Query"');
  }
  const reply = await service.ask('{ __schema { typess { name } } }');
  expect(reply.errors[0]?.message).toContain('Did you mean "types"?');
});
