import type { IncomingHttpHeaders } from 'node:http';
import { parsePhoneNumber } from '../src/domain/phoneNumber.ts';
import type { AccessTokens, Grant, NumberGrant } from './accessTokens.ts';
import type { Clients } from './clients.ts';
import type { Consents } from './consents.ts';
import { operationsOf, refuseAuthorization, type Dialect } from './dialect.ts';
import type { Reply } from './reply.ts';
import type { Outcome } from './outcome.ts';
import type { Counts } from './stats.ts';
import { findTestNumber } from './testNumbers.ts';

/** A request for a token or a consent. */
export interface AuthorizationRequest {
  readonly headers: IncomingHttpHeaders;
  /** For example `grant_type=client_credentials`; empty without a query. */
  readonly query: string;
  readonly body: string;
  /** The URL of the endpoint. */
  readonly url: string;
  /** The thumbprint of the key that proves it, to which its token is bound. */
  readonly thumbprint?: string | undefined;
}

/** The parts of the operator. */
export interface AuthorizationParts {
  readonly dialect: Dialect;
  readonly clients: Clients;
  readonly tokens: AccessTokens;
  readonly consents: Consents;
  readonly counts: Counts;
  readonly pollDelayMs: number | undefined;
}

const CLIENT_CREDENTIALS = 'client_credentials';
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/** Issues tokens by the dialect's grants, to a client that authenticates. */
export class AuthorizationServer {
  readonly #parts: AuthorizationParts;

  constructor(parts: AuthorizationParts) {
    this.#parts = parts;
  }

  /**
   * Metadata (RFC 8414 §2).
   *
   * @param url of the server
   */
  metadata(url: string): Reply {
    const { paths, clientAuthentication, cibaGrantType } = this.#parts.dialect;
    const at = (path = ''): string => url + path;
    return {
      status: 200,
      body: {
        issuer: url,
        token_endpoint: at(paths.token),
        backchannel_authentication_endpoint: at(paths.backchannelAuthentication),
        backchannel_token_delivery_modes_supported: ['poll'],
        backchannel_user_code_parameter_supported: false,
        grant_types_supported: [CLIENT_CREDENTIALS, cibaGrantType],
        response_types_supported: [],
        token_endpoint_auth_methods_supported: [clientAuthentication],
        token_endpoint_auth_signing_alg_values_supported: ['ES256', 'PS256', 'RS256'],
      },
    };
  }

  /** Answers a token request (docs/operator-api.md, "A token without consent"). */
  async token(request: AuthorizationRequest): Promise<Outcome> {
    const form = readForm(request);
    if (form === undefined) return this.#refused(400, 'invalid_request');
    const { tokenRequest, paths, cibaGrantType } = this.#parts.dialect;
    if (paths.cibaToken === paths.token && form.get('grant_type') === cibaGrantType) {
      return this.poll(request);
    }
    switch (tokenRequest.grant) {
      case 'client_credentials': {
        if (!(await this.#knows(request, form))) return this.#unknownClient();
        const outside = new URLSearchParams(request.query);
        const [place, other] = tokenRequest.inQuery ? [outside, form] : [form, outside];
        if (place.get('grant_type') !== CLIENT_CREDENTIALS || other.has('grant_type')) {
          return this.#refused(400, 'unsupported_grant_type');
        }
        if (form.has('username') !== tokenRequest.namesNumber) {
          return this.#refused(400, 'invalid_request');
        }
        return this.#issued(
          this.#grant(form.get('username'), form.get('scope'), false),
          request.thumbprint,
        );
      }
      case 'jwt-bearer':
        return this.#jwtBearer(form, request);
    }
  }

  async #jwtBearer(form: URLSearchParams, request: AuthorizationRequest): Promise<Outcome> {
    if (form.get('grant_type') !== JWT_BEARER) return this.#refused(400, 'unsupported_grant_type');
    // Scope and client are in the assertion: as parameters they would appear twice.
    if (form.has('scope') || form.has('client_assertion')) {
      return this.#refused(400, 'invalid_request');
    }
    const claims = await this.#parts.clients.read(
      form.get('assertion') ?? '',
      this.#audience(request),
    );
    if (claims === undefined) {
      this.#parts.counts.refusedClients += 1;
      return this.#refused(400, 'invalid_grant');
    }
    const { sub = '', scope } = claims;
    const granted = this.#grant(sub, typeof scope === 'string' ? scope : null, true);
    return this.#issued(granted, request.thumbprint);
  }

  /** Answers bc-authorize (docs/operator-api.md, "Requesting consent"). */
  async authorize(request: AuthorizationRequest): Promise<Outcome> {
    const { dialect } = this.#parts;
    const form = readForm(request);
    if (form === undefined) return this.#refused(400, 'invalid_request');
    if (!(await this.#knows(request, form))) return this.#unknownClient();
    const { partnerHeader } = dialect;
    if (partnerHeader !== undefined && request.headers[partnerHeader] === undefined) {
      return this.#refused(400, 'invalid_request');
    }
    const granted = this.#grant(form.get('login_hint') ?? '', form.get('scope'), true);
    switch (granted.kind) {
      case 'refused':
        return { reply: granted.reply };
      case 'granted': {
        const { number = '' } = granted.grant;
        const { thumbprint } = request;
        return this.#prompt({ ...granted.grant, number, thumbprint });
      }
    }
  }

  /** Answers a poll (docs/operator-api.md, "Polling for a token"). */
  async poll(request: AuthorizationRequest): Promise<Outcome> {
    const { dialect, consents, pollDelayMs } = this.#parts;
    const form = readForm(request);
    if (form === undefined) return this.#refused(400, 'invalid_request');
    if (!(await this.#knows(request, form))) return this.#unknownClient();
    if (form.get('grant_type') !== dialect.cibaGrantType) {
      return this.#refused(400, 'unsupported_grant_type');
    }
    const authReqId = form.get('auth_req_id');
    if (authReqId === null) return this.#refused(400, 'invalid_request');
    return {
      reply: consents.poll(authReqId),
      fault: pollDelayMs === undefined ? undefined : { kind: 'delay', ms: pollDelayMs },
      afterwards: () => {
        consents.pollAnswered(authReqId);
      },
    };
  }

  #prompt(grant: NumberGrant): Outcome {
    const { consent = { grantedAfterMs: 0 } } = findTestNumber(grant.number) ?? {};
    if (consent.insteadOfPrompt !== undefined) {
      return { reply: { status: 200 }, fault: consent.insteadOfPrompt };
    }
    return { reply: this.#parts.consents.request(grant, consent), fault: consent.afterPrompt };
  }

  #issued(granted: Grant, thumbprint: string | undefined): Outcome {
    switch (granted.kind) {
      case 'refused':
        return { reply: granted.reply };
      case 'granted': {
        const { number } = granted.grant;
        const fault = number === undefined ? undefined : findTestNumber(number)?.token;
        return fault?.kind === 'refuse'
          ? { reply: { status: 200 }, fault }
          : { reply: this.#parts.tokens.issue({ ...granted.grant, thumbprint }), fault };
      }
    }
  }

  /** @param subject the number as `tel:`; `null` for a token about any number */
  #grant(subject: string | null, scope: string | null, identifies: boolean): Grant {
    const { dialect } = this.#parts;
    const refused = (error: string): Grant => ({
      kind: 'refused',
      reply: refuseAuthorization(dialect, 400, error),
    });
    const operations = operationsOf(dialect, scope ?? '', identifies);
    const granted = (named: { readonly number?: string }): Grant =>
      operations === undefined
        ? refused('invalid_scope')
        : { kind: 'granted', grant: { ...named, operations, identifies } };
    if (subject === null) return granted({});
    // The service accepts the number with or without its plus, and nothing between the digits.
    const digits = /^tel:\+?([0-9]+)$/.exec(subject)?.[1] ?? '';
    const parsed = parsePhoneNumber(`+${digits}`);
    switch (parsed.kind) {
      case 'refused':
        return refused(identifies ? 'unknown_user_id' : 'invalid_request');
      case 'parsed':
        return granted({ number: parsed.value });
    }
  }

  #knows(request: AuthorizationRequest, form: URLSearchParams): Promise<boolean> {
    return this.#parts.clients.accepts(
      request.headers.authorization,
      form,
      this.#audience(request),
    );
  }

  /** The audience that assertions must have. */
  #audience({ url }: AuthorizationRequest): string {
    switch (this.#parts.dialect.audience) {
      case 'server':
        return new URL(url).origin;
      case 'endpoint':
        return url;
    }
  }

  #unknownClient(): Outcome {
    this.#parts.counts.refusedClients += 1;
    const { reply } = this.#refused(401, 'invalid_client');
    return { reply: { ...reply, headers: { 'www-authenticate': 'Basic realm="simulator"' } } };
  }

  #refused(status: number, error: string): Outcome {
    return { reply: refuseAuthorization(this.#parts.dialect, status, error) };
  }
}

/** `undefined` where it is not a form, or has a parameter twice (RFC 6749 §3.2). */
function readForm({ headers, body }: AuthorizationRequest): URLSearchParams | undefined {
  const { 'content-type': type = '' } = headers;
  if (!/^application\/x-www-form-urlencoded\b/i.test(type)) return undefined;
  const form = new URLSearchParams(body);
  return new Set(form.keys()).size < form.size ? undefined : form;
}
