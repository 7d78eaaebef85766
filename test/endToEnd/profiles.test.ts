import { describe, expect, test } from 'vitest';
import { startSimulator } from '../../simulator/simulator.ts';
import { IS_LONG } from '../support/forms.ts';
import { startServiceOf } from '../support/operatorsFile.ts';
import {
  dialectOfProfile,
  filledIn,
  flowOfProfile,
  profileKeys,
  PROFILES,
  PROFILE_SECRETS,
  type ProfileName,
} from '../../scripts/simulatedProfiles.ts';
import { tellAbout, type Told } from './answers.ts';
import { ROWS } from './testNumberRows.ts';

type Difference = readonly [date: Told, window: Told];

/** A token request without a number succeeds for all of them. */
const NAMELESS_TOKENS = Object.fromEntries(
  ['040', '041', '042', '043', '044'].map((lastDigits) => [lastDigits, ['87600 h ago', false]]),
) as Readonly<Record<string, Difference>>;

/** Before CAMARA 2 a period out of range has no code of its own: 400 INVALID_ARGUMENT is our fault. */
const NO_WORD_FOR_PERIODS = { '009': ['72 h ago', 'OPERATOR_REFUSED'] } as const;

/** Where an operator departs from what docs/testing.md says of a test number. */
const DIFFERENCES: Readonly<Record<ProfileName, Readonly<Record<string, Difference>>>> = {
  camara: {},
  'camara, 2-legged': NAMELESS_TOKENS,
  vodafone: NO_WORD_FOR_PERIODS,
  // Its law allows no longer windows than that line's.
  orange: { '009': ['72 h ago', true] },
  telefonica: {
    ...NO_WORD_FOR_PERIODS,
    // Its authorization server answers with a number in place of OAuth's code.
    '053': ['OPERATOR_REFUSED', 'OPERATOR_REFUSED'],
    '054': ['OPERATOR_REFUSED', 'OPERATOR_REFUSED'],
  },
  // Without check, windows are answered by the date, `true` where it proves nothing.
  kpn: {
    ...NAMELESS_TOKENS,
    '005': ['24 h ago', true],
    '006': [null, 'PERIOD_NOT_SUPPORTED'],
    '007': [null, 'PERIOD_NOT_SUPPORTED'],
    '009': ['72 h ago', true],
    '022': ['OPERATION_NOT_OFFERED', 'OPERATION_NOT_OFFERED'],
    '032': ['OPERATOR_INVALID_REPLY', 'OPERATOR_INVALID_REPLY'],
    '033': ['OPERATOR_INVALID_REPLY', 'OPERATOR_INVALID_REPLY'],
    '034': ['OPERATOR_INVALID_REPLY', 'OPERATOR_INVALID_REPLY'],
  },
  claro: { ...NAMELESS_TOKENS, ...NO_WORD_FOR_PERIODS },
  aggregator: NAMELESS_TOKENS,
  'jwt-bearer': {},
};

/** The queried window: ten days, or the longest that the operator takes. */
const WINDOW_HOURS: Readonly<Partial<Record<ProfileName, number>>> = { orange: 168 };

/** The short form has a sixth of the rows for each profile, and all in which it differs. */
describe.concurrent.each(PROFILES)('the profile %s against its simulator', (profile) => {
  const flow = flowOfProfile(profile);
  const rows = ROWS.filter(
    ([ofRow, lastDigits], index) =>
      ofRow === flow &&
      (IS_LONG ||
        lastDigits in DIFFERENCES[profile] ||
        (index + PROFILES.indexOf(profile)) % 6 === 0),
  );

  test.each(rows)('%s: …%s', async (_flow, lastDigits, date, tenDays, settings) => {
    const simulator = await startSimulator({
      port: 0,
      dialect: dialectOfProfile(profile),
      jwks: await profileKeys(),
    });
    const { OPERATOR_TIMEOUT_MS: timeoutMs = '10000', ...others } = settings;
    const entry = { ...filledIn(profile, simulator), limits: { timeoutMs: Number(timeoutMs) } };
    const service = await startServiceOf([entry], {
      ...PROFILE_SECRETS,
      REQUEST_TIMEOUT_MS: '30000',
      CONSENT_WAIT_MS: '25000',
      ...others,
    });
    try {
      const number = `+447700900${lastDigits}`;
      const heard = await tellAbout(
        service,
        number,
        'lastSimSwap',
        `window: simSwappedWithin(maxAgeHours: ${WINDOW_HOURS[profile] ?? 240})`,
      );

      const [itsDate, itsWindow] = DIFFERENCES[profile][lastDigits] ?? [date, tenDays];
      expect(heard).toEqual({ lastSimSwap: itsDate, window: itsWindow });
      expect(simulator.stats()).toMatchObject({
        reusedTokens: 0,
        misusedTokens: 0,
        earlyPolls: 0,
        refusedClients: 0,
        conflicts: 0,
      });
    } finally {
      await service.stop();
      await simulator.close();
    }
  });
});
