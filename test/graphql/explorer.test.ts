import { parse, validate } from 'graphql';
import { afterEach, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import type { Environment } from '../../src/config/environment.ts';
import { createExplorer } from '../../src/graphql/explorer.ts';
import { createSchema } from '../../src/graphql/schema.ts';
import { explorerOpening } from '../../src/app/firstQuery.ts';
import { TemporaryFiles } from '../support/temporary.ts';
import { settingsFor, startService, type Service } from '../support/service.ts';

const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const MANIFEST = JSON.stringify({ typename: '{ __typename }' });
const NOWHERE = 'http://127.0.0.1:1';

let service: Service | undefined;
afterEach(async () => {
  await service?.stop();
});

async function start(environment: Environment = {}): Promise<string> {
  const { role } = readConfig({ ...settingsFor(NOWHERE), ...environment });
  const opening = explorerOpening({ role, isSimulated: true, headers: {} });
  service = await startService(NOWHERE, environment, { explorerOpening: opening });
  return `${service.url}/graphql`;
}

describe('a browser that opens /graphql', () => {
  it('sees GraphiQL, which may reach only this service', async () => {
    const page = await fetch(await start(), { headers: BROWSER });

    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('content-security-policy')).toMatch(
      /^default-src 'none';.* connect-src 'self';/,
    );
    const html = await page.text();
    expect(html).toContain('<title>SIM swap</title>');
    expect(html).toContain('data-copy="+447700900002"');
    expect(html).toContain('</button> SIM swapped 3 days ago</li>');
    expect(html).not.toMatch(/<(?:script|link)[^>]+(?:src|href)="(?!data:)/);
  });

  it.each<Environment>([{ NODE_ENV: 'production' }, { HOST: '0.0.0.0' }])(
    'sees no page where it is reachable from outside: %j',
    async (reach) => {
      const exposed = {
        ...reach,
        JWT_JWKS_URL: 'http://127.0.0.1:9/jwks',
        JWT_ISSUER: 'http://127.0.0.1:9',
        JWT_AUDIENCE: 'sim-swap',
        AUDIT_KEY: 'a key of thirty-two characters or more',
      };
      const reply = await fetch(await start(exposed), { headers: BROWSER });
      expect(reply.status).toBe(401);
      expect(reply.headers.get('content-type')).toMatch('application/json');
    },
  );

  it('sees no page beside trusted documents, and no link to it', async () => {
    const files = new TemporaryFiles();
    const TRUSTED_DOCUMENTS = files.write('manifest.json', MANIFEST);
    const page = await start({ TRUSTED_DOCUMENTS });
    expect((await fetch(page, { headers: BROWSER })).status).toBe(400);
    const frontPage = await fetch(page.replace('/graphql', '/'), { headers: BROWSER });
    expect(await frontPage.text()).not.toContain('href="/graphql"');
  });

  it('with a query is answered as a client', async () => {
    const query = encodeURIComponent('{ __typename }');
    const reply = await fetch(`${await start()}?query=${query}`, {
      headers: { ...BROWSER, 'apollo-require-preflight': 'true' },
    });
    expect(await reply.json()).toEqual({ data: { __typename: 'Query' } });
  });
});

describe('a browser that opens the bare address', () => {
  it.each(['bff', 'subgraph'])(
    'sees what this is and where to go, and loads nothing: %s',
    async (role) => {
      const url = (await start({ ROLE: role })).replace('/graphql', '/');
      const page = await fetch(url, { headers: BROWSER });

      expect(page.status).toBe(200);
      expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src/);
      const html = await page.text();
      expect(html).toContain(role === 'bff' ? 'SIM swap BFF' : 'SIM swap subgraph');
      expect(html).toContain('<a href="/graphql">');
      expect(html).not.toMatch(/<script|src=|https?:/);
    },
  );

  it('is distinguished from a client with a wrong path', async () => {
    const url = (await start()).replace('/graphql', '/');
    const reply = await fetch(url, { method: 'POST', headers: BROWSER, body: '{}' });
    expect([reply.status, await reply.text()]).toEqual([404, expect.stringContaining('/graphql')]);
  });
});

it.each(['bff', 'subgraph'] as const)('the opening tabs fit the %s', (role) => {
  const { documents } = explorerOpening({ role, isSimulated: true, headers: {} });
  expect(documents.map((document) => validate(createSchema(role), parse(document)))).toEqual([
    [],
    [],
    [],
  ]);
});

it.each([
  ['simulated', true, {}, /, true\)<\/script>/, /data-copy/],
  ['real, so that a lookup costs', false, {}, /, false\)<\/script>/, /is a real one/],
  ['behind a token', true, { authorization: 'Bearer <access token>' }, /, false\)</, /Put yours/],
])(
  'one answer is loaded where it costs nothing: %s',
  async (_, isSimulated, headers, runs, says) => {
    const opening = explorerOpening({ role: 'bff', isSimulated, headers });
    const { body } = await createExplorer(opening)();
    const html = String(body);
    expect(html).toMatch(runs);
    expect(html).toMatch(says);
    expect(html.includes('Bearer <access token>')).toBe('authorization' in headers);
  },
);
