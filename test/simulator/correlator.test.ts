import { expect, onTestFinished, test } from 'vitest';
import { startSimulator } from '../../simulator/simulator.ts';

test.each([
  ['an answer', '/stats', 'GET'],
  ['a refusal', '/oauth/v1/token', 'POST'],
  ['an unknown path', '/elsewhere', 'POST'],
])(
  '%s carries the correlator of its request, unless the echo is off',
  async (_name, path, method) => {
    const echoed = await Promise.all(
      [true, false].map(async (echoesCorrelator) => {
        const simulator = await startSimulator({ port: 0, echoesCorrelator });
        onTestFinished(() => simulator.close());
        const headers = { 'x-correlator': 'caller-1' };
        return (await fetch(`${simulator.authUrl}${path}`, { method, headers })).headers.get(
          'x-correlator',
        );
      }),
    );

    expect(echoed).toEqual(['caller-1', null]);
  },
);
