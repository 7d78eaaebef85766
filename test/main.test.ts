import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { ServerProcess } from './endToEnd/serverProcess.ts';
import { Program } from './support/program.ts';
import { WiredOperator } from './support/wiredOperator.ts';

/** `src/main.ts` with these settings and no others; it ends with the test. */
function startMain(settings: Readonly<Record<string, string>>): Program {
  const main = Program.node(['src/main.ts'], { PORT: '0', ...settings });
  onTestFinished(() => main[Symbol.asyncDispose]());
  return main;
}

function addressesIn(banner: string): string[] {
  return [...new Set(banner.match(/http:\/\/127\.0\.0\.1:\d+/g))];
}

async function isServed(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}

test('with settings it cannot use it ends with exit code 1 and names every problem', async () => {
  const main = startMain({
    PORT: 'none',
    ROLE: 'router',
    OPERATOR_AUTH_URL: 'nowhere',
    OPERATOR_CLIENT_SECRET: 's3cret-value',
  });

  expect(await main.ended).toEqual({ code: 1, signal: null });
  const names = Array.from(main.err.matchAll(/^ +([A-Z_]+) /gm), ([, name]) => name);
  const operator = ['OPERATOR_AUTH_URL', 'OPERATOR_SIM_SWAP_URL', 'OPERATOR_CLIENT_ID'];
  expect(new Set(names)).toEqual(new Set([...operator, 'PORT', 'ROLE']));
  expect(main.err).not.toMatch(/s3cret-value|\bat .*\.ts:/);
  expect(main.err).toContain('PORT must be a whole number from 0 to 65535, not "none".');
  expect(main.out).toBe('');
});

test.each([
  ['PORT', {}],
  ['METRICS_PORT', { PORT: '0' }],
])('with a %s in use it ends with a message, and so does its simulator', async (name, settings) => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const main = startMain({ ...settings, [name]: String(port) });

  expect(await main.ended).toEqual({ code: 1, signal: null });
  expect(main.err).toBe(
    `The port is in use (HOST=127.0.0.1, ${name}=${port}). Set ${name} to another, or end the program that has it.\n`,
  );
  expect(main.out).toMatch(/^[^\n]*"msg":"Starting."[^\n]*\n$/);
  other.close();
  await once(other, 'close');
});

function warningsOfAnyone(main: Program): readonly string[] {
  return main.lines.filter((line) => line.includes('Anyone who reaches this service'));
}

test.each([
  ['bff', 'phoneNumber'],
  ['subgraph', '_entities'],
])(
  'with only ROLE=%s the curl line of the banner gets an answer; SIGINT ends it and its simulator',
  async (role, field) => {
    const main = startMain({ ROLE: role });
    await main.written(/Ctrl-C ends both\./);
    const command = /^ *curl [^]*?'$(?=\n\n)/m.exec(main.out)?.[0] ?? '';
    const [service = '', simulator = '', ...others] = addressesIn(main.out);
    expect(others).toEqual([]);
    expect(await isServed(`${service}/readyz`)).toBe(true);
    expect(await isServed(`${simulator}/stats`)).toBe(true);

    const { stdout } = await promisify(execFile)('sh', ['-c', command]);

    const { data, errors } = JSON.parse(stdout) as { data: Record<string, unknown>; errors?: [] };
    expect(errors).toBeUndefined();
    const answer = { e164: '+447700900002', simSwappedWithin: true };
    expect([data[field]].flat()[0]).toMatchObject(answer);

    main.signal('SIGINT');

    expect(await main.ended).toEqual({ code: 0, signal: null });
    expect(await isServed(`${service}/readyz`)).toBe(false);
    expect(await isServed(`${simulator}/stats`)).toBe(false);
    expect(warningsOfAnyone(main)).toEqual([]);
  },
);

test('with an operator it has neither simulator nor banner, and warns of anonymous callers', async () => {
  await using operator = await WiredOperator.start();
  await using server = await ServerProcess.start(operator.url, {});

  const { data } = await server.ask('{ phoneNumber(e164: "+447700900004") { simSwappedWithin } }');

  expect(data).toEqual({ phoneNumber: { simSwappedWithin: false } });
  expect([operator.count('tokens'), operator.count('lookups')]).toEqual([1, 1]);
  expect(server.out).not.toMatch(/simulator|curl|7700/);
  const warnings = warningsOfAnyone(server).map((line) => JSON.parse(line) as object);
  expect(warnings).toMatchObject([{ level: 40, setting: 'JWT_JWKS_URL' }]);
  server.signal('SIGINT');
  expect(await server.ended).toEqual({ code: 0, signal: null });
});
