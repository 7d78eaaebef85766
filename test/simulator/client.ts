import { DEMO_CLIENT, type Simulator } from '../../simulator/simulator.ts';

const { clientId, clientSecret } = DEMO_CLIENT;
const BASIC = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;

export const DATE_SCOPE = 'retrieve-sim-swap-date';
export const CHECK_SCOPE = 'check-sim-swap';

export const CORRELATOR = 'test-1';

/** What a form says: its parameters, in order and as often as they are given. */
export type Form = Record<string, string> | [string, string][];

export async function postForm(url: string, form: Form, signal?: AbortSignal): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { authorization: BASIC },
    body: new URLSearchParams(form),
    redirect: 'manual',
    signal: signal ?? null,
  });
}

export async function requestToken(
  { authUrl }: Simulator,
  number: string,
  scope: string,
  signal?: AbortSignal,
): Promise<Response> {
  return postForm(
    `${authUrl}/oauth/v1/token`,
    { grant_type: 'client_credentials', username: `tel:${number}`, scope },
    signal,
  );
}

export async function requestConsent(
  { authUrl }: Simulator,
  number: string,
  scope: string = CHECK_SCOPE,
): Promise<Response> {
  return postForm(`${authUrl}/openIDConnectCIBA/v1/bc-authorize`, {
    login_hint: `tel:${number}`,
    scope,
  });
}

export async function poll(
  { authUrl }: Simulator,
  authReqId: string,
  signal?: AbortSignal,
): Promise<Response> {
  return postForm(
    `${authUrl}/openIDConnectCIBA/v1/token`,
    { grant_type: 'urn:openid:params:mc:grant-type:ciba', auth_req_id: authReqId },
    signal,
  );
}

export async function lookUp(
  { simSwapUrl }: Simulator,
  operation: string,
  token: string,
  body: object,
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(`${simSwapUrl}/${operation}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'x-correlator': CORRELATOR,
    },
    body: JSON.stringify(body),
    redirect: 'manual',
    signal: signal ?? null,
  });
}

export async function read(reply: Response, name: string): Promise<string> {
  const body: unknown = await reply.json();
  if (typeof body !== 'object' || body === null) throw new Error('The reply is no JSON object.');
  const value: unknown = Object.entries(body).find(([key]) => key === name)?.[1];
  if (typeof value !== 'string') throw new Error(`The reply holds no text "${name}".`);
  return value;
}
