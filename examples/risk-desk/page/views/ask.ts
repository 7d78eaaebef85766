import { createContext, use } from 'react';

/** What every asking needs. */
export interface Ask {
  /** Whether a purpose is chosen; where not, leads to the choice. */
  mayAsk(): boolean;
  /** After a sign-in in another tab: whether there is a session again. */
  renewSession(): Promise<boolean>;
}

export const AskContext = createContext<Ask | null>(null);

export function useAsk(): Ask {
  const ask = use(AskContext);
  if (ask === null) throw new Error('There is no session around this part of the page.');
  return ask;
}
