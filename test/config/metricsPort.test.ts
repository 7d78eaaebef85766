import { describe, expect, it } from 'vitest';
import { problemsOf } from './problems.ts';

const EXPOSED = {
  HOST: '0.0.0.0',
  JWT_JWKS_URL: 'https://issuer.example/jwks',
  JWT_ISSUER: 'https://issuer.example',
  JWT_AUDIENCE: 'sim-swap',
};

describe('METRICS_PORT', () => {
  it.each([
    ['4100', '4100'],
    ['04100', '4100'],
    ['4100', '0004100'],
  ])(
    'is not the port of the service, on loopback too: PORT=%s METRICS_PORT=%s',
    (port, metrics) => {
      for (const host of ['0.0.0.0', '127.0.0.1']) {
        const problems = problemsOf({ ...EXPOSED, HOST: host, PORT: port, METRICS_PORT: metrics });
        expect(problems).toContainEqual(
          expect.stringContaining('METRICS_PORT must be another port than PORT'),
        );
      }
    },
  );

  it.each([
    ['another port', { PORT: '4100', METRICS_PORT: '4101' }],
    ['any that is free, twice', { PORT: '0', METRICS_PORT: '0' }],
  ])('may be %s', (_, settings) => {
    const problems = problemsOf({ ...EXPOSED, ...settings });
    expect(problems.filter((problem) => problem.includes('METRICS_PORT'))).toEqual([]);
  });
});
