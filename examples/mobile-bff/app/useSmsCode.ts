import { useEffect, useState } from 'react';
import { pause } from './pause.ts';
import type { RequestCode } from './codeReply.ts';
import { smsCode, type CodeState } from './smsCode.ts';

/** What a screen shows: no request yet, the first reply is on its way, or the reply. */
export type SmsCodeState = { readonly kind: 'idle' } | { readonly kind: 'asking' } | CodeState;

/** A request for a code, and what the user can do about it. */
export interface SmsCode {
  readonly state: SmsCodeState;
  /** Sends a request; does nothing while one is under way. */
  readonly ask: () => void;
  /** Ends the requests, and forgets the reply. */
  readonly cancel: () => void;
}

/** What the app says of itself. */
export interface SmsCodeOptions {
  /**
   * Whether the app is in front (`AppState` in React Native, `visibilityState` in a browser). While it is
   * not, no request is sent; when it is again, the wait continues where it was. True where absent.
   */
  readonly isInFront?: boolean;
}

const IDLE: SmsCodeState = { kind: 'idle' };

/** A state belongs to its user: to the function that sends their access token. */
interface Heard {
  readonly requestCode: RequestCode;
  readonly state: SmsCodeState;
}

/**
 * Requests an SMS code of the server, for as long as the component is mounted. It sends nothing before `ask`, shows
 * every state on the way, and ends what is under way at unmount. When another user signs in (another function),
 * it is idle again: no user sees the reply to another.
 *
 * @param requestCode the same for as long as the same user is signed in
 */
export function useSmsCode(
  requestCode: RequestCode,
  { isInFront = true }: SmsCodeOptions = {},
): SmsCode {
  const [heard, setHeard] = useState<Heard>({ requestCode, state: IDLE });
  const state = heard.requestCode === requestCode ? heard.state : IDLE;
  const isUnderWay = state.kind === 'asking' || state.kind === 'pending';

  useEffect(() => {
    if (!isUnderWay || !isInFront) return;
    const leaving = new AbortController();
    void tellStates(requestCode, leaving.signal, (next) => setHeard({ requestCode, state: next }));
    return () => leaving.abort();
  }, [requestCode, isUnderWay, isInFront]);

  return {
    state,
    ask: () => {
      if (!isUnderWay) setHeard({ requestCode, state: { kind: 'asking' } });
    },
    cancel: () => setHeard({ requestCode, state: IDLE }),
  };
}

/** Tells every state, and nothing more once the signal says that the screen is left. */
async function tellStates(
  requestCode: RequestCode,
  leaving: AbortSignal,
  tell: (state: CodeState) => void,
): Promise<void> {
  try {
    for await (const state of smsCode(requestCode, pause(leaving), leaving)) {
      if (leaving.aborted) return;
      tell(state);
    }
  } catch {
    if (!leaving.aborted) tell({ kind: 'anotherWay' });
  }
}
