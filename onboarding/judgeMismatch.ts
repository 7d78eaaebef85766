import { sendsPhoneNumber } from '../src/operator/operatorSettings.ts';
import type { OperatorSettings } from '../src/operator/operatorSettings.ts';
import { promptsOwner, namesNumber } from '../src/tokens/authorizationSettings.ts';
import type { Finding } from './finding.ts';
import { isBilled, type LookupTrial } from './judgeLookup.ts';

/**
 * Why it does not matter what the operator does with a token that was issued for another number; `undefined` where it
 * matters. Pure.
 */
export function whyMismatchIsHarmless(settings: OperatorSettings): string | undefined {
  if (promptsOwner(settings.flow)) return 'consent tokens have connections of their own';
  if (!namesNumber(settings.grant)) return 'tokens name no number';
  if (!sendsPhoneNumber(settings)) return 'lookups name no number in addition to the token';
  return settings.tokens.use === 'once' ? undefined : 'tokens are used again';
}

/** The row where `--other-number` could not be checked. Pure. */
export function mismatchNotTried(found: string): Finding {
  return { step: 'tokens', at: '', verdict: 'not tried', found };
}

/**
 * Judges a lookup that names another number than its token, once lookups about both numbers have been answered with
 * tokens of their own. Pure.
 */
export function judgeMismatch(
  trial: LookupTrial,
  setting: OperatorSettings['tokenMismatch'],
): Finding {
  const row = { step: 'tokens', at: trial.operation } as const;
  const { exchange } = trial;
  if (
    exchange.kind === 'reply' &&
    (exchange.reply.status === 401 || exchange.reply.status === 403)
  ) {
    const found = `a token of another number is refused (${exchange.reply.status})`;
    if (setting === 'refused') return { ...row, verdict: 'ok', found };
    return {
      ...row,
      verdict: 'ok',
      found,
      advice:
        'Connections to the token endpoint can be kept where it echoes no correlator. If the operator confirms that such a token is refused for every number, set tokenMismatch of the profile to refused.',
    };
  }
  if (isBilled(trial)) {
    const found = 'a token of another number is accepted';
    if (setting === 'accepted') return { ...row, verdict: 'ok', found };
    return {
      ...row,
      verdict: 'failed',
      found,
      advice:
        'With this setting an answer could be about another number. Set tokenMismatch of the profile to accepted at once.',
    };
  }
  return {
    ...row,
    verdict: 'warning',
    found: 'neither refused nor accepted',
    advice:
      'The operator answered a token of another number in a way that says nothing. Leave tokenMismatch of the profile at accepted.',
  };
}
