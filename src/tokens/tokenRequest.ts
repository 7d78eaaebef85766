import { fillTemplate } from '../domain/phoneNumber.ts';
import type { Ciba, ClientCredentials, Scopes } from '../domain/profile.ts';
import type { Clock } from '../system/clock.ts';
import type { Correlator } from '../system/correlator.ts';
import type { OutgoingRequest } from '../wire/exchange.ts';
import type { TokenSubject } from './accessToken.ts';
import { scopeOf, type AuthorizationSettings } from './authorizationSettings.ts';
import {
  createJwtSigner,
  encodeForm,
  NO_PROOF,
  type ClientAuthentication,
  type ClientProof,
} from './clientAuthentication.ts';

/** A request to the authorization server, encoded, without the proof of the client. */
export interface AuthorizationRequest {
  readonly form: string;
  /** Members of the URL's query. */
  readonly query?: string;
}

/** Writes one request to an address. What is signed has its own `jti`, which is valid once. */
export type WriteRequest = (
  subject: TokenSubject,
  address: string,
) => AuthorizationRequest | Promise<AuthorizationRequest>;

type RequestSettings = Pick<
  AuthorizationSettings,
  'authentication' | 'clientAuthentication' | 'grant' | 'scopes'
>;

type RequestContext = Pick<OutgoingRequest, 'signal' | 'onFirstByte'> & {
  readonly correlator: Correlator;
};

export type WriteProven = ReturnType<typeof provenRequests>;

/** Requests with the client's proof: polls, or those of the operator's grant. */
export function provenRequests(
  settings: RequestSettings,
  authenticate: ClientAuthentication,
  clock: Clock,
) {
  const { grant, clientAuthentication } = settings;
  // In CAMARA the grant's assertion authenticates the client: another would be a second method (RFC 6749 §2.3).
  const isProven = grant.type === 'jwt-bearer' && clientAuthentication.method === 'private_key_jwt';
  const proof = isProven ? NO_PROOF : authenticate;
  const write = createRequest(settings, clock);
  return (
    subject: TokenSubject,
    address: string,
    context: RequestContext,
    poll?: AuthorizationRequest,
  ) => {
    const writing = poll ?? write(subject, address);
    const proving = typeof proof === 'function' ? proof(address) : proof;
    return writing instanceof Promise || proving instanceof Promise
      ? Promise.all([writing, proving]).then((parts) => outgoing(...parts, context))
      : outgoing(writing, proving, context);
  };
}

function outgoing(
  { form, query = '' }: AuthorizationRequest,
  proof: ClientProof,
  { correlator, signal, onFirstByte }: RequestContext,
): OutgoingRequest {
  return {
    headers: proof.headers,
    query,
    contentType: 'application/x-www-form-urlencoded',
    body: joinForms(form, proof.form),
    correlator: correlator.next(),
    signal,
    onFirstByte,
  };
}

/** Requests of the operator's grant: for a token, or for the consent that a token is polled for. */
export function createRequest(settings: RequestSettings, clock: Clock): WriteRequest {
  const { clientAuthentication, grant, scopes } = settings;
  switch (grant.type) {
    case 'client_credentials':
      return clientCredentialsRequest(grant, scopes);
    case 'jwt-bearer': {
      // By CAMARA's profile of RFC 7523 §2.1 ("JWT Bearer Flow") there is no `scope` with the assertion.
      const sign = createJwtSigner(clientAuthentication.assertion, clock);
      return async (subject, address) => {
        const scope = scopeOf(scopes, subject);
        const sub = fillTemplate(grant.subject, subject.number);
        const assertion = await sign(address, scope === '' ? { sub } : { sub, scope });
        return {
          form: encodeForm({
            grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
            assertion,
            ...grant.parameters,
          }),
        };
      };
    }
    case 'ciba':
      return consentRequest(grant, settings, clock);
    case 'none':
      return () => {
        throw new Error('A token was requested where there is no token step.');
      };
  }
}

/** RFC 6749 §4.4.2: all but the number is encoded once for each of the few scopes. An empty scope is left out. */
function clientCredentialsRequest(
  { inQuery, parameters, username }: ClientCredentials,
  scopes: Scopes,
): WriteRequest {
  const encode = (scope: string): Required<AuthorizationRequest> => {
    const query = new URLSearchParams();
    const form = new URLSearchParams();
    const write = (name: 'grant_type' | 'scope', value: string): void =>
      (inQuery.includes(name) ? query : form).set(name, value);
    write('grant_type', 'client_credentials');
    if (scope !== '') write('scope', scope);
    for (const [name, value] of Object.entries(parameters)) form.set(name, value);
    return { form: form.toString(), query: query.toString() };
  };
  const byScope = new Map<string, Required<AuthorizationRequest>>();
  return (subject) => {
    const scope = scopeOf(scopes, subject);
    const request = byScope.get(scope) ?? encode(scope);
    byScope.set(scope, request);
    if (username === undefined) return request;
    const named = `username=${encodeURIComponent(fillTemplate(username, subject.number))}`;
    return { form: joinForms(request.form, named), query: request.query };
  };
}

/**
 * Backchannel authentication requests (OpenID CIBA Core §7.1), their parameters as they are or in a signed `request`
 * (§7.1.1). `strict` sends nothing else; `on` repeats `scope`, which some operators
 * require (docs/operator-api.md, "Requesting consent").
 */
function consentRequest(
  grant: Ciba,
  { authentication, clientAuthentication, scopes }: RequestSettings,
  clock: Clock,
): WriteRequest {
  const written = (members: Readonly<Record<string, string>>): AuthorizationRequest => ({
    form: encodeForm({ ...members, ...grant.parameters }),
  });
  const { signedRequest } = authentication;
  const sign =
    signedRequest === 'off' ? undefined : createJwtSigner(clientAuthentication.assertion, clock);
  return (subject, address) => {
    const scope = scopeOf(scopes, subject);
    const scopeMember = scope === '' ? {} : { scope };
    const members = { login_hint: fillTemplate(grant.loginHint, subject.number), ...scopeMember };
    if (sign === undefined) return written(members);
    // An assertion names the client in `sub`, a signed request does not (RFC 9101 §10.8), and requires `nbf`.
    const claims = { ...members, sub: undefined, nbf: Math.floor(clock.nowMs() / 1000) };
    return sign(address, claims).then((request) =>
      written(signedRequest === 'strict' ? { request } : { request, ...scopeMember }),
    );
  };
}

/** Joins two encoded forms. Pure. */
function joinForms(form: string, further: string): string {
  return form === '' || further === '' ? form + further : `${form}&${further}`;
}
