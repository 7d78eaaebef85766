import { readFileSync } from 'node:fs';
import { utimes } from 'node:fs/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { NpmProcess } from './npmProcess.ts';
import { Program } from '../support/program.ts';
import { askAt } from '../support/service.ts';

const SERVICE = /http:\/\/127\.0\.0\.1:\d+(?=\/graphql)/;
const SIMULATOR = /http:\/\/127\.0\.0\.1:\d+(?=\/stats)/;

const SLOW_NUMBER = '+447700900015';

async function isServed(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).status > 0;
  } catch {
    return false;
  }
}

async function ask(service: string, number: string): Promise<unknown> {
  return (await askAt(service, `{ phoneNumber(e164: "${number}") { simSwappedWithin } }`)).body;
}

async function lookups(simulator: string): Promise<number> {
  const stats = (await (await fetch(`${simulator}/stats`)).json()) as { lookups: number };
  return stats.lookups;
}

async function startService(settings: Readonly<Record<string, string>> = {}) {
  const npm = new NpmProcess(['start'], { PORT: '0', ...settings });
  await npm.written(/Ctrl-C ends both/);
  const [service = ''] = await npm.written(SERVICE);
  const [simulator = ''] = await npm.written(SIMULATOR);
  return { npm, service, simulator };
}

describe('npm start', () => {
  test.each<[string, (npm: NpmProcess) => void, exit?: object]>([
    ['SIGTERM to npm', (npm) => npm.signal('SIGTERM'), { code: 0, signal: null }],
    ['SIGINT to npm', (npm) => npm.signal('SIGINT'), { code: 0, signal: null }],
    ['Ctrl-C, to the whole group', (npm) => npm.signalGroup('SIGINT')],
    ['a terminal that closes', (npm) => npm.signalGroup('SIGHUP')],
    ['npm that is killed', (npm) => npm.signal('SIGKILL')],
  ])('%s: what is under way is answered, then all ends', async (_name, signal, exit) => {
    const { npm, service, simulator } = await startService();
    const answer = ask(service, SLOW_NUMBER);
    await expect.poll(() => lookups(simulator), { timeout: 15_000 }).toBe(1);

    signal(npm);

    expect(await answer).toEqual({ data: { phoneNumber: { simSwappedWithin: false } } });
    expect(await npm.ended).toMatchObject(exit ?? {});
    expect(await isServed(`${service}/livez`)).toBe(false);
    expect(await isServed(`${simulator}/stats`)).toBe(false);
    expect((npm.out + npm.err).split('.env not found').length - 1).toBeLessThanOrEqual(1);
  });

  test('a second Ctrl-C, some seconds later, ends a long drain at once', async () => {
    const { npm } = await startService({ DRAIN_GRACE_MS: '300000' });
    const ended = npm.ended.then(() => true);

    npm.signalGroup('SIGINT');
    const again = setInterval(() => npm.signalGroup('SIGINT'), 500);
    onTestFinished(() => clearInterval(again));

    expect(await ended).toBe(true);
  });
});

test.each([
  ['SIGTERM to npm', (npm: NpmProcess) => npm.signal('SIGTERM')],
  ['SIGKILL to npm', (npm: NpmProcess) => npm.signal('SIGKILL')],
  ['Ctrl-C', (npm: NpmProcess) => npm.signalGroup('SIGINT')],
])('npm run simulator: %s ends it', async (_name, signal) => {
  const npm = new NpmProcess(['run', 'simulator', '--', '--port', '0']);
  const [simulator = ''] = await npm.written(SIMULATOR);
  expect(await isServed(`${simulator}/stats`)).toBe(true);

  signal(npm);

  await npm.ended;
  expect(await isServed(`${simulator}/stats`)).toBe(false);
});

test('npm run dev: a change starts service and simulator again, and Ctrl-C ends all of it', async () => {
  const npm = new NpmProcess(['run', 'dev'], { PORT: '0' });
  await npm.written(/Ctrl-C ends both/);

  const schema = new URL('../../schema/bff.graphql', import.meta.url);
  await utimes(schema, new Date(), new Date());
  const [again = ''] = await npm.written(/has changed: starting again[^]*Ctrl-C ends both/);
  const [service = ''] = SERVICE.exec(again) ?? [];
  const [simulator = ''] = SIMULATOR.exec(again) ?? [];
  expect(await ask(service, '+447700900004')).toEqual({
    data: { phoneNumber: { simSwappedWithin: false } },
  });

  npm.signalGroup('SIGINT');

  expect(await npm.ended).toEqual({ code: 0, signal: null });
  expect(npm.out.match(/"Drained\."/g)).toHaveLength(2);
  expect(await isServed(`${service}/livez`)).toBe(false);
  expect(await isServed(`${simulator}/stats`)).toBe(false);
});

test('the command that the docs name for containers serves and drains, and compiles nothing', async () => {
  const docs = readFileSync(new URL('../../docs/adopting.md', import.meta.url), 'utf8');
  const [, command = ''] = /```sh\n\s*(node .*src\/main\.ts)\n/.exec(docs) ?? [];
  expect(command.split(' ')).toContain('--disallow-code-generation-from-strings');
  const [, ...options] = command.split(' ');
  const program = Program.node(options, { PORT: '0' });
  onTestFinished(() => program[Symbol.asyncDispose]());
  await program.written(/Ctrl-C ends both/);
  program.signal('SIGTERM');
  expect(await program.exit).toEqual({ code: 0, signal: null });
});
