import { useApolloClient } from '@apollo/client/react';
import type { ApolloClient } from '@apollo/client';
import { useEffect, useState } from 'react';
import { pause } from './pause.ts';
import { simSwapCheck } from './simSwapCheck.ts';
import type { Verdict } from './verdict.ts';

/** What a screen shows: nothing was asked yet, the first answer is on its way, or a verdict. */
export type SimSwapCheckState = { readonly kind: 'idle' } | { readonly kind: 'asking' } | Verdict;

/** A check, and what the user can do about it. */
export interface SimSwapCheck {
  readonly state: SimSwapCheckState;
  /** Asks; does nothing while an ask is under way. After a verdict it asks anew. */
  readonly ask: () => void;
  /** Stops asking, and forgets the verdict. */
  readonly cancel: () => void;
}

/** What the app says of itself. */
export interface SimSwapCheckOptions {
  /**
   * Whether the app is in front (`AppState` in React Native, `visibilityState` in a browser). While it is
   * not, nothing is asked; when it is again, the wait goes on where it was. True unless said.
   */
  readonly isInFront?: boolean;
}

const IDLE: SimSwapCheckState = { kind: 'idle' };

/** A state belongs to the client that heard it: to a user, by the access token that it sends. */
interface Heard {
  readonly client: ApolloClient;
  readonly state: SimSwapCheckState;
}

/**
 * Asks whether an SMS code to the signed-in user can be trusted, for as long as the component is there. It
 * asks nothing before `ask`, tells every verdict on the way, and ends what is under way when the component
 * goes. When another user signs in (another Apollo Client above it), it is idle again: no user sees what
 * another was told. Needs an `ApolloProvider`.
 */
export function useSimSwapCheck({ isInFront = true }: SimSwapCheckOptions = {}): SimSwapCheck {
  const client = useApolloClient();
  const [heard, setHeard] = useState<Heard>({ client, state: IDLE });
  const state = heard.client === client ? heard.state : IDLE;
  const isUnderWay = state.kind === 'asking' || state.kind === 'pending';

  useEffect(() => {
    if (!isUnderWay || !isInFront) return;
    const leaving = new AbortController();
    void tellVerdicts(client, leaving.signal, (verdict) => setHeard({ client, state: verdict }));
    return () => leaving.abort();
  }, [client, isUnderWay, isInFront]);

  return {
    state,
    ask: () => {
      if (!isUnderWay) setHeard({ client, state: { kind: 'asking' } });
    },
    cancel: () => setHeard({ client, state: IDLE }),
  };
}

/** Tells every verdict, and nothing more once the signal says that the screen is left. */
async function tellVerdicts(
  client: ApolloClient,
  leaving: AbortSignal,
  tell: (verdict: Verdict) => void,
): Promise<void> {
  try {
    for await (const verdict of simSwapCheck(client, pause(leaving), leaving)) {
      if (leaving.aborted) return;
      tell(verdict);
    }
  } catch {
    if (!leaving.aborted) tell({ kind: 'unknown', code: 'NO_ANSWER' });
  }
}
