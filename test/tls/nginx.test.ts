import { existsSync, readFileSync } from 'node:fs';
import { request } from 'node:https';
import { text as readAll } from 'node:stream/consumers';
import type { IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { TestIssuer } from '../caller/testIssuer.ts';
import { freePort } from '../support/freePort.ts';
import { Program } from '../support/program.ts';
import { startSimulated } from '../support/service.ts';
import { createCertificate } from './certificate.ts';
import { TemporaryFiles } from '../support/temporary.ts';

const NGINX = '/usr/sbin/nginx';
const PAGE = readFileSync(new URL('../../docs/deploying.md', import.meta.url), 'utf8');
const [, CONFIGURATION = ''] = /```nginx\n(.*?)```/s.exec(PAGE) ?? [];

const HOST = 'sim-swap.example';

async function send(
  port: number,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number | undefined; readonly hsts: unknown; readonly text: string }> {
  const body = JSON.stringify({
    query: '{ phoneNumber(e164: "+447700900015") { simSwappedWithin } }',
  });
  const asked = request({
    host: '127.0.0.1',
    port,
    path,
    method: 'POST',
    // The certificate is self-signed.
    rejectUnauthorized: false,
    headers: { host: HOST, 'content-type': 'application/json', ...headers },
  });
  asked.end(body);
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  const text = await readAll(response);
  return { status: response.statusCode, hsts: response.headers['strict-transport-security'], text };
}

it.skipIf(!existsSync(NGINX))(
  'nginx with the configuration of docs/deploying.md passes on only /graphql, without a router proof',
  async () => {
    const files = new TemporaryFiles();
    const { cert, key } = createCertificate();
    const port = await freePort();
    const routerSecret = 'a-router-secret-of-thirty-two-characters-and-more';
    const issuer = await TestIssuer.start();
    await using _issuer = { [Symbol.asyncDispose]: () => issuer.close() };
    const authorization = `Bearer ${await issuer.token({ scope: 'sim-swap:read' })}`;
    const settings = { ...issuer.settings, AUDIT_KEY: 'k'.repeat(32), AUDIT_LOG: '/dev/null' };
    await using service = await startSimulated(settings);
    await using guarded = await startSimulated({
      ...settings,
      ROLE: 'subgraph',
      ROUTER_SECRET: routerSecret,
    });

    const start = async (url: string, at: number): Promise<Program> => {
      const site = CONFIGURATION.replace('127.0.0.1:4000', new URL(url).host)
        .replace('listen 443 ssl', `listen 127.0.0.1:${at} ssl`)
        .replace('/etc/nginx/tls/sim-swap.crt', files.write('sim-swap.crt', cert))
        .replace('/etc/nginx/tls/sim-swap.key', files.write('sim-swap.key', key));
      const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
        .map((name) => `${name}_temp_path ${files.folder}/${at}-${name};`)
        .join('\n');
      const path = files.write(
        `nginx-${at}.conf`,
        `daemon off; master_process off; pid ${files.folder}/${at}.pid; error_log stderr;
        events {} http { access_log off; ${places} ${site} }`,
      );
      const nginx = new Program(NGINX, ['-c', path, '-e', 'stderr'], {});
      await expect.poll(() => send(at, '/').catch(() => undefined)).toBeDefined();
      return nginx;
    };

    await using _nginx = await start(service.url, port);
    expect(await send(port, '/graphql', { authorization })).toEqual({
      status: 200,
      hsts: 'max-age=31536000',
      text: expect.stringContaining('"simSwappedWithin":false') as string,
    });
    for (const path of ['/', '/metrics', '/readyz', '/graphql/x']) {
      expect((await send(port, path)).status).toBe(404);
    }

    const other = await freePort();
    await using _other = await start(guarded.url, other);
    const proof = { authorization, 'x-router-secret': routerSecret };
    expect((await send(other, '/graphql', proof)).status).toBe(403);
  },
);
