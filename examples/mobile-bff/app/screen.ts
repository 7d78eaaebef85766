import type { CodeState } from './smsCode.ts';

/** What the user reads. No code and no word of the operator's is among it. */
export function screen(state: CodeState): string {
  switch (state.kind) {
    case 'sent':
      return `We have sent you a code by SMS, to your number ending in ${state.ending}. Please enter it here.`;
    case 'swapped':
      return 'Your SIM card is new. To keep you safe, please sign in with your passkey.';
    case 'pending':
      return `Your operator has sent a request to your phone. Please agree there${by(state.expiresAt)}, we are waiting …${state.offersAnotherWay ? ' Or sign in with your passkey.' : ''}`;
    case 'declined':
      return 'You chose not to share this. Please sign in with your passkey.';
    case 'unanswered':
      return 'You did not respond on your phone in time. Try again, or sign in with your passkey.';
    case 'signedOut':
      return 'Please sign in first.';
    case 'unknown':
      return 'We cannot send you a code just now. Please sign in with your passkey.';
  }
}

/** In the time zone of the phone. */
function by(expiresAt: string | null): string {
  if (expiresAt === null) return '';
  return ` by ${new Date(expiresAt).toLocaleTimeString('en-GB', { timeStyle: 'short' })}`;
}
