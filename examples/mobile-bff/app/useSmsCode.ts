import { useEffect, useState } from 'react';
import { pause } from './pause.ts';
import type { RequestCode } from './codeReply.ts';
import { smsCode, type CodeState } from './smsCode.ts';

/** What a screen shows: nothing was asked yet, the first reply is on its way, or what it said. */
export type SmsCodeState = { readonly kind: 'idle' } | { readonly kind: 'asking' } | CodeState;

/** A request for a code, and what the user can do about it. */
export interface SmsCode {
  readonly state: SmsCodeState;
  /** Asks; does nothing while a request is under way. After its end it asks again. */
  readonly ask: () => void;
  /** Stops asking, and forgets the reply. */
  readonly cancel: () => void;
}

/** What the app says of itself. */
export interface SmsCodeOptions {
  /**
   * Whether the app is in front (`AppState` in React Native, `visibilityState` in a browser). While it is
   * not, nothing is asked; when it is again, the wait goes on where it was. True unless said.
   */
  readonly isInFront?: boolean;
}

const IDLE: SmsCodeState = { kind: 'idle' };

/** A state belongs to the user who asked: to the function that sends their access token. */
interface Heard {
  readonly requestCode: RequestCode;
  readonly state: SmsCodeState;
}

/**
 * Asks the server for an SMS code, for as long as the component is there. It asks nothing before `ask`, shows every
 * state on the way, and ends what is under way when the component goes. When another user signs in (another function),
 * it is idle again: no user sees what another was told.
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
    if (!leaving.aborted) tell({ kind: 'unknown', code: 'NO_ANSWER' });
  }
}
