import type { EchoSetting } from '../src/wire/echo.ts';
import type { Finding } from './finding.ts';
import type { Echo } from './singleExchange.ts';

/** Judges what the operator does with our correlators. Pure. */
export function judgeEcho(
  echoes: readonly (readonly [endpoint: string, echo: Echo])[],
  setting: EchoSetting,
): readonly Finding[] {
  if (echoes.length === 0) return [];
  const found = echoes.map(([endpoint, echo]) => `${endpoint} ${WORDS[echo]}`).join(', ');
  const row = { step: 'echo', at: '', found } as const;
  const has = (sought: Echo): boolean => echoes.some(([, echo]) => echo === sought);
  if (setting === 'never') return [{ ...row, verdict: 'ok' }];
  if (has('another')) {
    return [
      {
        ...row,
        verdict: 'failed',
        advice:
          'The operator, or its gateway, writes correlators of its own, and its replies would be refused as those of other requests. Write "echo": "never".',
      },
    ];
  }
  if (setting === 'always' && has('none')) {
    return [
      {
        ...row,
        verdict: 'failed',
        advice:
          'Replies without the correlator are refused by "echo": "always". Write "echo": "auto".',
      },
    ];
  }
  return [{ ...row, verdict: 'ok' }];
}

const WORDS: Readonly<Record<Echo, string>> = {
  same: 'yes',
  none: 'no',
  another: 'another one',
};
