import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestIssuer } from '../caller/testIssuer.ts';
import { startSimulated, type SimulatedService } from '../support/service.ts';

const SECRET = 'a-secret-of-thirty-two-characters';
const INTROSPECTIONS = [
  '{ __schema { queryType { name } } }',
  '{ __type(name: "Query") { name } }',
];

const issuer = await TestIssuer.start();
const headers = { authorization: `Bearer ${await issuer.token()}`, 'x-router-secret': SECRET };
afterAll(() => issuer.close());

describe.each(['bff', 'subgraph'] as const)('the %s', (role) => {
  let service: SimulatedService;
  beforeAll(async () => {
    service = await startSimulated({
      ...issuer.settings,
      ...(role === 'subgraph' ? { ROUTER_SECRET: SECRET } : {}),
      ROLE: role,
      NODE_ENV: 'production',
      AUDIT_KEY: SECRET,
    });
    return () => service.stop();
  });

  it.each(INTROSPECTIONS)('refuses introspection in production: %s', async (query) => {
    const { status, body } = await service.ask(query, {}, headers);
    expect(status).toBe(400);
    const message =
      'Introspection is off in production. Read the schema in schema/ of the release, or introspect a server that runs without NODE_ENV=production.';
    const extensions = { code: 'GRAPHQL_VALIDATION_FAILED' };
    expect(body).toMatchObject({ errors: [{ message, extensions }] });
    expect(body.data).toBeUndefined();
  });

  it('suggests no fields in production, and names types', async () => {
    const reply = await service.ask(role === 'bff' ? '{ phoneNumbe }' : '{ _servic }', {}, headers);
    expect(reply.codes).toEqual(['GRAPHQL_VALIDATION_FAILED']);
    expect(reply.text).not.toContain('Did you mean');
    const { body } = await service.ask('{ __typename }', {}, headers);
    expect(body).toEqual({ data: { __typename: 'Query' } });
  });

  it('gives its SDL to a router, in production as well', async () => {
    const { data, codes } = await service.ask('{ _service { sdl } }', {}, headers);
    const isRouters = role === 'subgraph';
    expect(codes).toEqual(isRouters ? [] : ['GRAPHQL_VALIDATION_FAILED']);
    expect(/type PhoneNumber\s+@key\(fields: "e164"\)/.test(data?._service.sdl)).toBe(isRouters);
  });

  it('elsewhere, introspects and suggests fields', async () => {
    await using open = await startSimulated({ ROLE: role });
    for (const query of INTROSPECTIONS) {
      const reply = await open.ask(query);
      expect(reply.errors).toEqual([]);
      expect(reply.text).toContain('"Query"');
    }
    const { errors } = await open.ask('{ __schema { typess { name } } }');
    expect(errors[0]?.message).toContain('Did you mean "types"?');
  });
});
