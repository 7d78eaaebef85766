import { Pool } from 'undici';
import { operatorAddress } from '../processes/competing.ts';
import { lookingUp } from './tokenAndLookup.ts';

/** A path, by the connections that lead there. */
interface Endpoint {
  readonly pool: Pool;
  readonly path: string;
}

const { authUrl, simSwapUrl } = operatorAddress();
const CONNECTIONS = 256;
const tokenPool = new Pool(authUrl, { connections: CONNECTIONS });
const { origin, pathname } = new URL(simSwapUrl);
const lookupPool = new Pool(origin, { connections: CONNECTIONS });

/** A token and the lookup it buys, by undici's `request`. */
export const lookUpByRequest = lookingUp<Endpoint>(post, {
  token: { pool: tokenPool, path: '/oauth/v1/token' },
  check: { pool: lookupPool, path: `${pathname}/check` },
  'retrieve-date': { pool: lookupPool, path: `${pathname}/retrieve-date` },
});

async function post(
  { pool, path }: Endpoint,
  headers: Record<string, string>,
  body: string,
): Promise<unknown> {
  const reply = await pool.request({ path, method: 'POST', headers, body });
  if (reply.statusCode !== 200) throw new Error(`HTTP ${reply.statusCode}`);
  return reply.body.json();
}
