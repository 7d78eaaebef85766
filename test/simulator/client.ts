import { DEMO_CLIENT, type Simulator } from '../../simulator/simulator.ts';

const { clientId, clientSecret } = DEMO_CLIENT;
const BASIC = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;

export const DATE_SCOPE = 'retrieve-sim-swap-date';
export const CHECK_SCOPE = 'check-sim-swap';

/** The parameters of a form, in order; one may come twice. */
export type Form = Record<string, string> | [string, string][];

export async function postForm(url: string, form: Form): Promise<Response> {
  const body = new URLSearchParams(form);
  return fetch(url, { method: 'POST', headers: { authorization: BASIC }, body });
}

export async function requestToken(
  { authUrl }: Simulator,
  number: string,
  scope: string,
): Promise<Response> {
  const form = { grant_type: 'client_credentials', username: `tel:${number}`, scope };
  return postForm(`${authUrl}/oauth/v1/token`, form);
}

export async function requestConsent(
  { authUrl }: Simulator,
  number: string,
  scope: string = CHECK_SCOPE,
): Promise<Response> {
  const form = { login_hint: `tel:${number}`, scope };
  return postForm(`${authUrl}/openIDConnectCIBA/v1/bc-authorize`, form);
}

export async function poll({ authUrl }: Simulator, authReqId: string): Promise<Response> {
  return postForm(`${authUrl}/openIDConnectCIBA/v1/token`, {
    grant_type: 'urn:openid:params:mc:grant-type:ciba',
    auth_req_id: authReqId,
  });
}

export async function lookUp(
  { simSwapUrl }: Simulator,
  operation: string,
  token: string,
  body: object,
): Promise<Response> {
  return fetch(`${simSwapUrl}/${operation}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

export async function read(reply: Response, name: string): Promise<string> {
  const body = (await reply.json()) as Readonly<Record<string, unknown>>;
  const value = body[name];
  if (typeof value !== 'string') throw new Error(`The reply holds no text "${name}".`);
  return value;
}

/** The status and the body of a reply. */
export async function summary(reply: Promise<Response>): Promise<string> {
  const one = await reply;
  return `${one.status} ${await one.text()}`;
}
