import { expect, it } from 'vitest';
import { startSimulator } from '../../simulator/simulator.ts';
import {
  filledIn,
  flowOfProfile,
  profileKeys,
  PROFILES,
  PROFILE_SECRETS,
} from '../../scripts/simulatedProfiles.ts';
import { OperatorsFile } from '../operatorsFile.ts';
import { check, number, rowsOf, verdicts } from './checked.ts';
import { PassingTime } from './passingTime.ts';

it.each(PROFILES)('the profile %s is tried at its simulator, and asks once', async (profile) => {
  const time = new PassingTime();
  const simulator = await startSimulator({
    port: 0,
    dialect: profile,
    jwks: await profileKeys(),
    nowMs: () => time.nowMs(),
  });
  try {
    using file = new OperatorsFile([filledIn(profile, simulator)]);
    const environment = { ...PROFILE_SECRETS, OPERATORS_FILE: file.path };
    const report = await check(environment, { clock: time });
    expect(report.findings.filter(({ verdict }) => /failed|warning/.test(verdict))).toEqual([]);
    expect(simulator.stats()).toMatchObject({ lookups: 0, refusedLookups: 0, prompts: 0 });

    const asked = await check(environment, {
      clock: time,
      number: { number: number('+447700900004'), mayPrompt: true },
    });
    expect(verdicts(asked)).toMatchObject({ credentials: 'ok', scopes: 'ok', lookup: 'ok' });
    expect(rowsOf(asked, 'echo')[0]?.verdict).toBe('ok');
    expect(simulator.stats()).toMatchObject({
      lookups: 1,
      refusedLookups: 0,
      prompts: flowOfProfile(profile) === '3-legged' ? 1 : 0,
      earlyPolls: 0,
      reusedTokens: 0,
      misusedTokens: 0,
    });
  } finally {
    await simulator.close();
  }
});
