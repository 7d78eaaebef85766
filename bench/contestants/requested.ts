import { Pool } from 'undici';
import { operatorAddress } from '../processes/contestant.ts';
import { CLIENT_AUTHORIZATION, tokenForm, type SCOPES } from './schema.ts';

const { authUrl, simSwapUrl } = operatorAddress();
const CONNECTIONS = 256;
const tokenPool = new Pool(authUrl, { connections: CONNECTIONS });
const { origin, pathname } = new URL(simSwapUrl);
const lookupPool = new Pool(origin, { connections: CONNECTIONS });

/** A token and the lookup it buys, by undici's `request`. */
export async function lookUpByRequest(
  number: string,
  operation: keyof typeof SCOPES,
  body: object,
): Promise<unknown> {
  const { access_token: token } = (await post(
    tokenPool,
    '/oauth/v1/token',
    {
      authorization: CLIENT_AUTHORIZATION,
      'content-type': 'application/x-www-form-urlencoded',
    },
    tokenForm(number, operation),
  )) as { access_token: string };
  return post(
    lookupPool,
    `${pathname}/${operation}`,
    { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    JSON.stringify(body),
  );
}

async function post(
  pool: Pool,
  path: string,
  headers: Record<string, string>,
  body: string,
): Promise<unknown> {
  const reply = await pool.request({ path, method: 'POST', headers, body });
  if (reply.statusCode !== 200) throw new Error(`HTTP ${reply.statusCode}`);
  return reply.body.json();
}
