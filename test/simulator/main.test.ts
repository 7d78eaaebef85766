import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { launchSimulator } from '../../simulator/launch.ts';
import { startSimulator } from '../../simulator/simulator.ts';
import { Program } from '../support/program.ts';
import { runsOf } from '../support/runs.ts';

/** Once it is printed, all of them are. */
const LAST_SETTING = /OPERATOR_CLIENT_SECRET=\S+\n/;

function run(...options: string[]): Program {
  // With the flags of the image.
  const flags = ['--disallow-code-generation-from-strings', '--disable-sigusr1'];
  const simulator = Program.node([...flags, 'simulator/main.ts', ...options]);
  onTestFinished(() => simulator[Symbol.asyncDispose]());
  return simulator;
}

const USAGE = /^npm run simulator -- \[--port N\] \[--dialect D\] /;

/** Options that end it, and with what. */
const REFUSED: readonly (readonly [options: string, message: RegExp])[] = [
  ['--port 65536', USAGE],
  ['--prot 1', USAGE],
  ['4010', USAGE],
  ['--dialect toString', USAGE],
  ['--nonce all', USAGE],
  ['--nonce-period once', USAGE],
  ['--nonce both --nonce-period 0', USAGE],
  ['--host example.com', USAGE],
  ['--dialect orange', /^Clients of orange sign assertions: .*--client-key FILE/],
  ['--dialect orange --client-key package.json', /^package\.json cannot be read/],
  ['--client-key no-such-file', /^no-such-file cannot be read/],
  ['--host 192.0.2.1 --port 0', /^The simulator cannot listen on 192\.0\.2\.1/],
  ['--port PORT', /^Port \d+ is in use\. Choose another with --port, or 0 for any that is free\.$/],
];

describe('the simulator as a program', () => {
  const refusalOf = runsOf('simulator/main.ts', async () => {
    const other = await startSimulator({ port: 0 });
    afterAll(() => other.close());
    const { port } = new URL(other.authUrl);
    return REFUSED.map(([options]) => ({ words: options.replace('PORT', port).split(' ') }));
  });

  test.each(REFUSED.map(([options, message], index) => ({ options, message, index })))(
    'ends with status 1 and a message: $options',
    ({ message, index }) => {
      const { code, err } = refusalOf(index) ?? {};
      expect(code).toBe(1);
      expect(err?.trimEnd()).toMatch(message);
    },
  );

  test.each<[NodeJS.Signals, string[], string]>([
    ['SIGINT', [], '/sim-swap/v2'],
    ['SIGTERM', ['--dialect', '1.0', '--host', '0.0.0.0'], '/sim-swap/v1'],
  ])('ends on %s; with %j it prints the settings of its client', async (signal, options, path) => {
    const simulator = run('--port', '0', ...options);
    await simulator.written(LAST_SETTING);
    const printed = [...simulator.out.matchAll(/(OPERATOR_\w+)=(\S+)/g)];
    expect(printed.map(([, name]) => name)).toEqual([
      'OPERATOR_AUTH_URL',
      'OPERATOR_SIM_SWAP_URL',
      'OPERATOR_CLIENT_ID',
      'OPERATOR_CLIENT_SECRET',
    ]);
    const [authUrl, simSwapUrl] = printed.map(([, , value]) => value);
    expect(authUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(simSwapUrl).toBe(authUrl + path);
    expect((await fetch(`${authUrl}/stats`)).status).toBe(200);

    simulator.signal(signal);

    expect(await simulator.exit).toEqual({ code: 0, signal: null });
  });
});

test('a launched simulator answers until it is stopped', async () => {
  const simulator = await launchSimulator();
  expect((await fetch(`${simulator.authUrl}/stats`)).status).toBe(200);

  await simulator.stop();
  await simulator.stop();

  await expect(fetch(`${simulator.authUrl}/stats`)).rejects.toThrow('fetch failed');
});

test('ends in silence where the program that launched it ended before it listens', async () => {
  // Before it runs, so that the channel is closed by then whatever the machine's speed.
  const closed = ['--import', 'data:text/javascript,process.disconnect()'];
  const simulator = new Program(
    process.execPath,
    [...closed, 'simulator/main.ts', '--port', '0'],
    {},
    { hasChannel: true },
  );
  onTestFinished(() => simulator[Symbol.asyncDispose]());

  expect(await simulator.ended).toEqual({ code: 0, signal: null });
  expect(simulator.err).toBe('');
});
