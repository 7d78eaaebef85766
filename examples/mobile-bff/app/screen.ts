import type { CodeState } from './smsCode.ts';

/** What the user reads. No code, no word of the operator's and no reason is among it: a thief reads it too. */
export function screen(state: CodeState): string {
  switch (state.kind) {
    case 'sent':
      return `We have sent you a code by SMS, to your number ending in ${state.ending}. Please enter it here.`;
    case 'pending':
      return `Your operator has sent a request to your phone. Please agree there${by(state.expiresAt)}, we are waiting …${state.offersAnotherWay ? ' Or sign in with your passkey.' : ''}`;
    case 'anotherWay':
      return 'We cannot send you a code. Please sign in with your passkey.';
    case 'tooManyCodes':
      return `You have requested several codes. Try again in ${minutes(state.retryAfterSeconds)}, or sign in with your passkey.`;
    case 'signedOut':
      return 'Please sign in first.';
  }
}

function minutes(seconds: number): string {
  const count = Math.ceil(seconds / 60);
  return count === 1 ? 'a minute' : `${count} minutes`;
}

/** In the time zone of the phone. */
function by(expiresAt: string | null): string {
  if (expiresAt === null) return '';
  return ` by ${new Date(expiresAt).toLocaleTimeString('en-GB', { timeStyle: 'short' })}`;
}
