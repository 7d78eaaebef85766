import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codesOf, startService, type Service } from './service.ts';

const ROLES = ['bff', 'subgraph'] as const;
const INTROSPECTIONS = [
  '{ __schema { queryType { name } } }',
  '{ __type(name: "Query") { name } }',
];

describe.each(ROLES)('in production, the %s', (role) => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ ROLE: role, NODE_ENV: 'production' });
  });
  afterAll(() => service.stop());

  it.each(INTROSPECTIONS)('does not tell its schema to whoever asks: %s', async (query) => {
    const reply = await service.ask(query);
    expect(reply.status).toBe(400);
    expect(reply.data).toBeUndefined();
    expect(codesOf(reply)).toEqual(['GRAPHQL_VALIDATION_FAILED']);
  });

  it('still names types', async () => {
    const reply = await service.ask('{ __typename }');
    expect(reply.data).toEqual({ __typename: 'Query' });
  });

  it(role === 'bff' ? 'has no SDL for a router' : 'gives a router its SDL', async () => {
    const reply = await service.ask('{ _service { sdl } }');
    if (role === 'bff') {
      expect(codesOf(reply)).toEqual(['GRAPHQL_VALIDATION_FAILED']);
    } else {
      expect(reply.errors).toEqual([]);
      expect(reply.data._service.sdl).toMatch(/type PhoneNumber\s+@key\(fields: "e164"\)/);
    }
  });
});

describe.each(ROLES)('elsewhere, the %s', (role) => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ ROLE: role });
  });
  afterAll(() => service.stop());

  it.each(INTROSPECTIONS)('tells its schema: %s', async (query) => {
    const reply = await service.ask(query);
    expect(reply.errors).toEqual([]);
    expect(reply.text).toContain('"Query"');
  });
});
