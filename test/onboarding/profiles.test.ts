import { expect, it } from 'vitest';
import {
  dialectOfProfile,
  filledIn,
  flowOfProfile,
  profileKeys,
  PROFILES,
  PROFILE_SECRETS,
} from '../../scripts/simulatedProfiles.ts';
import { OperatorsFile } from '../support/operatorsFile.ts';
import { check, number, rowsOf, simulator, verdicts } from './checked.ts';
import { PassingTime } from './passingTime.ts';

it.each(PROFILES)('the profile %s passes at its simulator, with one lookup', async (profile) => {
  const time = new PassingTime();
  const jwks = await profileKeys();
  await using operator = await simulator({
    dialect: dialectOfProfile(profile),
    jwks,
    nowMs: () => time.nowMs(),
  });
  const file = new OperatorsFile([filledIn(profile, operator)]);
  const environment = { ...PROFILE_SECRETS, OPERATORS_FILE: file.path };
  const report = await check(environment, { clock: time });
  expect(report.findings.filter(({ verdict }) => /failed|warning/.test(verdict))).toEqual([]);
  expect(operator.stats()).toMatchObject({ lookups: 0, refusedLookups: 0, prompts: 0 });

  const trial = { number: number('+447700900004'), mayPrompt: true };
  const asked = await check(environment, { clock: time, number: trial });
  expect(verdicts(asked)).toMatchObject({ credentials: 'ok', scopes: 'ok', lookup: 'ok' });
  expect(rowsOf(asked, 'echo')[0]?.verdict).toBe('ok');
  const prompts = flowOfProfile(profile) === '3-legged' ? 1 : 0;
  const nothingWrong = { refusedLookups: 0, earlyPolls: 0, reusedTokens: 0, misusedTokens: 0 };
  expect(operator.stats()).toMatchObject({ lookups: 1, prompts, ...nothingWrong });
});

it.each(['2-legged', '3-legged'] as const)(
  'an operator of the standard, found by its issuer, passes with tokens bound to a key: %s',
  async (flow) => {
    const time = new PassingTime();
    const nonces = { at: 'both', counts: { periodMs: 60_000 } } as const;
    const nowMs = () => time.nowMs();
    const jwks = await profileKeys();
    await using operator = await simulator({ dialect: 'camara', jwks, nonces, nowMs });
    const { authUrl: issuer, ...entry } = filledIn('camara', operator);
    const bound = { ...entry, flow, discovery: { issuer }, tokens: { dpop: true } };
    const trial = { number: number('+447700900004'), mayPrompt: true };
    const environment = { ...PROFILE_SECRETS, OPERATORS_FILE: new OperatorsFile([bound]).path };
    const report = await check(environment, { clock: time, number: trial });
    expect(report.findings.filter(({ verdict }) => /failed|warning/.test(verdict))).toEqual([]);
    const prompts = flow === '3-legged' ? 1 : 0;
    expect(operator.stats()).toMatchObject({ lookups: 1, prompts, refusedProofs: 0 });
  },
);
