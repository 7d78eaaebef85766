import { createContext, use } from 'react';
import type { SessionChecks } from '../asking/desk.ts';
import type { Session } from '../session.ts';

/** What every check needs. */
export interface Ask {
  readonly session: Session;
  /** Of all checks of this page. */
  readonly checks: SessionChecks;
  /** Its words, such as `Preventing fraud`; `null` until one is chosen. */
  readonly purpose: string | null;
  /** Whether a purpose is chosen; where not, leads to the choice, and goes on with `then` after it. */
  withPurpose(then: () => void): void;
  /** After a sign-in in another tab: whether there is a session again. */
  renewSession(): Promise<boolean>;
}

export const AskContext = createContext<Ask | null>(null);

export function useAsk(): Ask {
  const ask = use(AskContext);
  if (ask === null) throw new Error('There is no session around this part of the page.');
  return ask;
}
