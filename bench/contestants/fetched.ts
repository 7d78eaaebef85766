import { operatorAddress } from '../processes/contestant.ts';
import { CLIENT_AUTHORIZATION, tokenForm, type SCOPES } from './schema.ts';

const { authUrl, simSwapUrl } = operatorAddress();

/** A token and the lookup it buys, by the platform's own `fetch`. */
export async function lookUpByFetch(
  number: string,
  operation: keyof typeof SCOPES,
  body: object,
): Promise<unknown> {
  const { access_token: token } = (await post(
    `${authUrl}/oauth/v1/token`,
    {
      authorization: CLIENT_AUTHORIZATION,
      'content-type': 'application/x-www-form-urlencoded',
    },
    tokenForm(number, operation),
  )) as { access_token: string };
  return post(
    `${simSwapUrl}/${operation}`,
    { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    JSON.stringify(body),
  );
}

async function post(url: string, headers: Record<string, string>, body: string): Promise<unknown> {
  const reply = await fetch(url, { method: 'POST', headers, body });
  if (!reply.ok) throw new Error(`HTTP ${reply.status}`);
  return reply.json();
}
