import type { LookupFailureCode } from '../src/domain/errors.ts';
import { ERRORS } from '../src/domain/errors.ts';
import type { Finding, Verdict } from './finding.ts';

/** The outcome of a prompt. */
export type ConsentProbe =
  | { readonly kind: 'not allowed' }
  | { readonly kind: 'refused'; readonly code: LookupFailureCode; readonly statement: string }
  | { readonly kind: 'reply lost' }
  | {
      readonly kind: 'over';
      readonly end: 'granted' | 'not answered' | LookupFailureCode;
      /** From the acknowledgement, in seconds. */
      readonly interval: number;
      readonly expiresIn: number;
      readonly polls: number;
      readonly statement: string;
    };

const LABEL = 'bc-authorize';

/** Judges the outcome of a prompt. Pure. */
export function judgeConsent(probe: ConsentProbe): Finding {
  const row = { step: 'consent', at: LABEL } as const;
  switch (probe.kind) {
    case 'not allowed':
      return {
        ...row,
        verdict: 'not tried',
        found: 'it would prompt the owner: add --consent',
      };
    case 'reply lost':
      return {
        ...row,
        verdict: 'failed',
        found: 'no reply of its own arrived; the owner may have been prompted',
        advice:
          'Ask the owner of the number whether the prompt arrived, and the operator what it received.',
      };
    case 'refused':
      return {
        ...row,
        verdict: 'failed',
        found: `${probe.code}, ${probe.statement}`,
        advice: `bc-authorize refused the request. ${ERRORS[probe.code]} Compare scopes, and loginHint and signedRequest of the profile, with the onboarding papers.`,
      };
    case 'over': {
      const { end, interval, expiresIn, polls, statement } = probe;
      const found = `prompted once; ${END[end] ?? statement} after ${polls} ${polls === 1 ? 'poll' : 'polls'}, interval ${interval} s, expires in ${expiresIn} s`;
      const { verdict, advice } = OPINIONS[end] ?? FAILED;
      return advice === undefined ? { ...row, verdict, found } : { ...row, verdict, found, advice };
    }
  }
}

type End = Extract<ConsentProbe, { kind: 'over' }>['end'];

const END: Readonly<Partial<Record<End, string>>> = {
  granted: 'granted',
  'not answered': 'not answered',
  CONSENT_DENIED: 'declined',
  CONSENT_EXPIRED: 'expired',
};

const AGAIN = 'Try again with a person who waits for the prompt.';

const OPINIONS: Readonly<Partial<Record<End, { verdict: Verdict; advice?: string }>>> = {
  granted: { verdict: 'ok' },
  'not answered': { verdict: 'warning', advice: AGAIN },
  CONSENT_DENIED: { verdict: 'warning', advice: AGAIN },
  CONSENT_EXPIRED: { verdict: 'warning', advice: AGAIN },
};

const FAILED = {
  verdict: 'failed',
  advice:
    'The poll for the token failed. Compare grant and paths.cibaToken with the onboarding papers.',
} as const;
