import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { banner } from '../src/app/firstQuery.ts';
import { DEMO_CLIENT } from '../simulator/simulator.ts';
import { ServerProcess } from './endToEnd/serverProcess.ts';
import { Program } from './support/program.ts';
import { startSimulated } from './support/service.ts';
import { WiredOperator } from './support/wiredOperator.ts';

/** `src/main.ts` with these settings and no others; it ends with the test. */
function startMain(settings: Readonly<Record<string, string>>): Program {
  const main = Program.node(['src/main.ts'], { PORT: '0', ...settings });
  onTestFinished(() => main[Symbol.asyncDispose]());
  return main;
}

function addressesIn(text: string): string[] {
  return [...new Set(text.match(/http:\/\/127\.0\.0\.1:\d+/g))];
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
  ['PORT', 'built-in'],
  ['METRICS_PORT', 'http://127.0.0.1:9'],
])(
  'with a %s in use it ends with a message, and so does its simulator',
  async (name, simulator) => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const main = startMain({ SIMULATOR: simulator, [name]: String(port) });

    expect(await main.ended).toEqual({ code: 1, signal: null });
    expect(main.err).toBe(
      `The port is in use (HOST=127.0.0.1, ${name}=${port}). Set ${name} to another, or end the program that has it.\n`,
    );
    expect(main.out).toMatch(/^[^\n]*"msg":"Starting."[^\n]*\n$/);
    other.close();
    await once(other, 'close');
  },
);

function warningsOfAnyone(main: Program): readonly string[] {
  return main.lines.filter((line) => line.includes('Anyone who reaches this service'));
}

/** The answer to the curl line of a banner, which is that of a root field. */
async function answerToCurl(text: string): Promise<unknown> {
  const command = /^ *curl [^]*?'$(?=\n\n)/m.exec(text)?.[0] ?? '';
  const { stdout } = await promisify(execFile)('sh', ['-c', command]);
  const { data, errors } = JSON.parse(stdout) as { data: Record<string, unknown>; errors?: [] };
  expect(errors).toBeUndefined();
  const [[field, answer] = []] = Object.entries(data);
  return [field, [answer].flat()[0]];
}

const ANSWER = { e164: '+447700900002', simSwappedWithin: true };

test('without settings the curl line of the banner gets an answer; SIGINT ends it and its simulator', async () => {
  const main = startMain({});
  await main.written(/Ctrl-C ends both\./);
  const [service = '', simulator = '', ...others] = addressesIn(main.out);
  expect(others).toEqual([]);
  expect(await isServed(`${service}/readyz`)).toBe(true);
  expect(await isServed(`${simulator}/stats`)).toBe(true);
  expect(await answerToCurl(main.out)).toMatchObject(['phoneNumber', ANSWER]);

  main.signal('SIGINT');

  expect(await main.ended).toEqual({ code: 0, signal: null });
  expect(await isServed(`${service}/readyz`)).toBe(false);
  expect(await isServed(`${simulator}/stats`)).toBe(false);
  expect(warningsOfAnyone(main)).toEqual([]);
});

test('the curl line of the banner gets an answer from a subgraph too', async () => {
  await using service = await startSimulated({ ROLE: 'subgraph' });
  const { authUrl, simSwapUrl } = service.simulator;
  const text = banner(
    service.url,
    { role: 'subgraph', isSimulated: true, headers: {} },
    { ...DEMO_CLIENT, authUrl, simSwapUrl },
  );
  expect(await answerToCurl(text)).toMatchObject(['_entities', ANSWER]);
});

test('with an operator it has neither simulator nor banner, and warns of anonymous callers', async () => {
  await using operator = await WiredOperator.start();
  await using server = await ServerProcess.start(operator.url, {});

  const { data } = await server.ask('{ phoneNumber(e164: "+447700900004") { simSwappedWithin } }');

  expect(data).toEqual({ phoneNumber: { simSwappedWithin: false } });
  expect([operator.count('tokens'), operator.count('lookups')]).toEqual([1, 1]);
  // A warning about consents would name REDIS_URL: nobody is prompted.
  expect(server.out).not.toMatch(/simulator|curl|7700|REDIS_URL/);
  const warnings = warningsOfAnyone(server).map((line) => JSON.parse(line) as object);
  expect(warnings).toMatchObject([{ level: 40, setting: 'JWT_JWKS_URL' }]);
  server.signal('SIGINT');
  expect(await server.ended).toEqual({ code: 0, signal: null });
});
