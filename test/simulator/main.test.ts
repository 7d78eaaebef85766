import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { launchSimulator } from '../../src/simulator/launch.ts';
import { startSimulator } from '../../src/simulator/simulator.ts';

const MAIN = fileURLToPath(new URL('../../src/simulator/main.ts', import.meta.url));

function run(...options: string[]): ChildProcess & { stdout: NodeJS.ReadableStream } {
  const child = spawn(process.execPath, [MAIN, ...options], { stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return child;
}

/** The exit code of a run that ends by itself, and what it complains of. */
async function complaint(...options: string[]): Promise<{ code: unknown; message: string }> {
  const child = run(...options);
  const [message, [code]] = await Promise.all([
    child.stderr === null ? '' : text(child.stderr),
    once(child, 'exit') as Promise<unknown[]>,
  ]);
  return { code, message };
}

describe('the simulator as a program', () => {
  test.each([
    [['--port', 'abc']],
    [['--port', '65536']],
    [['--port=-1']],
    [['--port', '1.5']],
    [['--prot', '1']],
    [['4010']],
    [['--dialect', '3.0']],
    [['--dialect']],
  ])('%j ends it with a word on its use', async (options) => {
    const { code, message } = await complaint(...options);

    expect(code).toBe(1);
    expect(message).toMatch(/^npm run simulator -- \[--port N\] \[--dialect D\]\n/);
  });

  test.each([
    [[], '/sim-swap/v2'],
    [['--dialect', '2.1'], '/sim-swap/v2'],
    [['--dialect', '1.0'], '/sim-swap/v1'],
  ])('%j: the API lies at %s', async (options, path) => {
    const child = run('--port', '0', ...options);
    const [printed] = (await once(child.stdout, 'data')) as [Buffer];

    expect(String(printed)).toMatch(new RegExp(`OPERATOR_SIM_SWAP_URL=http://[^/]+${path}\n`));
  });

  test('a port in use ends it with the reason', async () => {
    const other = await startSimulator({ port: 0 });
    onTestFinished(() => other.close());
    const { port } = new URL(other.authUrl);

    expect(await complaint('--port', port)).toEqual({
      code: 1,
      message: `Port ${port} is in use. Choose another with --port, or 0 for any that is free.\n`,
    });
  });

  test.each<[NodeJS.Signals]>([['SIGINT'], ['SIGTERM']])(
    'prints the settings of its client, and ends on %s',
    async (signal) => {
      const child = run('--port', '0');
      const exited = once(child, 'exit');
      const [printed] = (await once(child.stdout, 'data')) as [Buffer];
      const settings = Object.fromEntries(
        [...printed.toString().matchAll(/(OPERATOR_\w+)=(\S+)/g)].map(([, name, value]) => [
          name,
          value,
        ]),
      );
      expect(Object.keys(settings)).toEqual([
        'OPERATOR_AUTH_URL',
        'OPERATOR_SIM_SWAP_URL',
        'OPERATOR_CLIENT_ID',
        'OPERATOR_CLIENT_SECRET',
      ]);
      expect((await fetch(`${settings['OPERATOR_AUTH_URL']}/stats`)).status).toBe(200);

      child.kill(signal);

      expect(await exited).toEqual([0, null]);
    },
  );
});

test('a launched simulator answers until it is stopped', async () => {
  const simulator = await launchSimulator();
  expect((await fetch(`${simulator.authUrl}/stats`)).status).toBe(200);

  await simulator.stop();
  await simulator.stop();

  await expect(fetch(`${simulator.authUrl}/stats`)).rejects.toThrow('fetch failed');
});
