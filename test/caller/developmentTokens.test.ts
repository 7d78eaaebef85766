import { expect, onTestFinished, test } from 'vitest';
import { signDevelopmentToken } from '../../src/caller/developmentTokens.ts';
import { readConfig } from '../../src/config/config.ts';
import { Program } from '../support/program.ts';
import { runsOf } from '../support/runs.ts';
import { askAt, startSimulated, type Reply } from '../support/service.ts';
import { startSimulator } from '../../simulator/simulator.ts';
import { TestIssuer } from './testIssuer.ts';

const FLAG = '--disallow-code-generation-from-strings';
const AUDIT_KEY = 'a-key-of-at-least-thirty-two-characters';

/** As in a cluster: production, and no identity provider. */
const REHEARSAL = {
  NODE_ENV: 'production',
  PORT: '0',
  SIMULATOR: 'built-in',
  DEV_TOKENS: 'true',
  AUDIT_KEY,
} as const;

const ANY_NUMBER = '{ phoneNumber(e164: "+447700900001") { simSwappedWithin } }';
const MY_NUMBER = '{ myPhoneNumber { e164 simSwappedWithin } }';

const REFUSED: readonly (readonly [words: readonly string[], reason: string])[] = [
  [['--minutes', '1e4'], '--minutes must be a whole number from 1 to 10080.'],
  [['--phone-number', '07700 900001'], '--phone-number: A phone number starts with +'],
  [['--subject', ''], '--subject must not be empty.'],
];
const OF_ALICE = ['--phone-number', '+44 7700 900004', '--subject', 'alice'];
/** `npm run dev-token` with each of these words. */
const devToken = runsOf('src/commands/devToken.ts', () =>
  [OF_ALICE, ...REFUSED.map(([words]) => words)].map((words) => ({ words })),
);

/** The same for a developer, without a process. */
function signed(scope: string): Promise<string> {
  return signDevelopmentToken({ subject: 'developer', scope, minutes: 5 }, Date.now());
}

function ask(url: string, query: string, token?: string): Promise<Reply> {
  return askAt(url, query, {}, token === undefined ? {} : { authorization: `Bearer ${token}` });
}

test('a rehearsal in production, with a simulator at an address, accepts only development tokens, and warns', async () => {
  const simulator = await startSimulator({ port: 0 });
  onTestFinished(() => simulator.close());
  await using service = Program.node([FLAG, 'src/main.ts'], {
    ...REHEARSAL,
    SIMULATOR: simulator.authUrl,
  });
  const url = await service.serves();
  const anyNumber = await signed('sim-swap:read');
  const { out, ...ended } = devToken(0) ?? { out: '' };
  expect(ended).toEqual({ code: 0, err: '' });
  const myNumber = out.trim();

  expect((await ask(url, ANY_NUMBER, anyNumber)).data).toEqual({
    phoneNumber: { simSwappedWithin: true },
  });
  expect((await ask(url, MY_NUMBER, myNumber)).data).toEqual({
    myPhoneNumber: { e164: '+447700900004', simSwappedWithin: false },
  });
  expect((await ask(url, ANY_NUMBER, myNumber)).codes).toEqual(['FORBIDDEN']);
  expect((await ask(url, ANY_NUMBER)).codes).toEqual(['UNAUTHENTICATED']);
  expect((await ask(url, ANY_NUMBER, `${anyNumber}x`)).codes).toEqual(['UNAUTHENTICATED']);
  expect(simulator.stats().lookups).toBe(2);
  expect(service.out).toMatch(/"level":40.*Every answer is invented/);
  expect(service.out).toMatch(/"level":40.*Anyone can sign the tokens/);
});

// That main starts it: test/main.test.ts.
test('a rehearsal in production may have the built-in simulator, and no operator then', () => {
  const { operators, simulator, simulatorUrl, callers } = readConfig(REHEARSAL);
  expect([operators, simulatorUrl]).toEqual([[], undefined]);
  expect(simulator).toBeDefined();
  expect(callers.tokens).toMatchObject({ isForDevelopment: true });
});

const WITH_OPERATOR = {
  OPERATOR_AUTH_URL: 'https://operator.example',
  OPERATOR_SIM_SWAP_URL: 'https://operator.example',
  OPERATOR_CLIENT_ID: 'demo-client',
  OPERATOR_CLIENT_SECRET: 'demo-secret',
};

test.each([
  ['an operator beside the simulator', WITH_OPERATOR, /SIMULATOR cannot be set together with/],
  [
    'an operator',
    { SIMULATOR: 'auto', ...WITH_OPERATOR },
    /DEV_TOKENS is for rehearsals: anyone can sign a development token, so they are accepted only while every operator is the simulator/,
  ],
  ['an issuer beside them', { JWT_ISSUER: 'https://id.example.com' }, /set together with/],
  ['neither operator nor simulator', { SIMULATOR: 'auto' }, /is missing/],
])('a rehearsal with %s does not start, and the message says why', (_what, settings, why) => {
  expect(() => readConfig({ ...REHEARSAL, ...settings })).toThrow(why);
});

test('a service that has an issuer refuses a development token', async () => {
  const issuer = await TestIssuer.start();
  onTestFinished(() => issuer.close());
  await using service = await startSimulated(issuer.settings);
  const token = await signed('sim-swap:read');

  expect((await ask(service.url, ANY_NUMBER, token)).codes).toEqual(['UNAUTHENTICATED']);
  expect(service.logged.join('\n')).toMatch(/access token was refused\. \{"reason":"issuer"\}/);
  expect(service.stats().requests).toBe(0);
});

test.each(['yes', 'ftp://simulator', 'http://simulator:4010/path', 'http://a:b@simulator:4010'])(
  'SIMULATOR=%s is refused',
  (SIMULATOR) => {
    const problem = 'SIMULATOR must be auto, built-in, or an address';
    expect(() => readConfig({ SIMULATOR })).toThrow(problem);
  },
);

test.each(REFUSED.map(([words, reason], index) => ({ words, reason, index })))(
  'npm run dev-token -- $words ends with the reason',
  ({ reason, index }) => {
    expect(devToken(index + 1)).toEqual({ code: 1, out: '', err: expect.stringContaining(reason) });
  },
);
