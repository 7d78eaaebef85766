import { operatorAddress } from '../processes/contestant.ts';
import { lookingUp } from './tokenAndLookup.ts';

const { authUrl, simSwapUrl } = operatorAddress();

/** A token and the lookup it buys, by the platform's own `fetch`. */
export const lookUpByFetch = lookingUp<string>(post, {
  token: `${authUrl}/oauth/v1/token`,
  check: `${simSwapUrl}/check`,
  'retrieve-date': `${simSwapUrl}/retrieve-date`,
});

async function post(url: string, headers: Record<string, string>, body: string): Promise<unknown> {
  const reply = await fetch(url, { method: 'POST', headers, body });
  if (!reply.ok) throw new Error(`HTTP ${reply.status}`);
  return reply.json();
}
