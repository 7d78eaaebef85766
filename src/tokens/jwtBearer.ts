import { scopeOf } from './tokenRequest.ts';
import type { Clock } from '../system/clock.ts';
import { fillTemplate } from '../domain/numberTemplate.ts';
import type { TokenSubject } from './accessToken.ts';
import type { AuthorizationSettings, JwtBearerGrant } from './authorizationSettings.ts';
import { createJwtSigner } from './signedJwt.ts';

/** Makes the members of one token request; each has an assertion of its own, for a `jti` counts once. */
export type JwtBearerForm = (
  subject: TokenSubject,
  address: string,
) => Promise<Readonly<Record<string, string>>>;

/**
 * A JWT as the grant (RFC 7523 §2.1), as CAMARA profiles it ("JWT Bearer Flow"): the assertion names the
 * number and the scope, and no `scope` stands beside it.
 */
export function createJwtBearerForm(
  { scopes }: Pick<AuthorizationSettings, 'scopes'>,
  { assertion, subject: template, parameters }: JwtBearerGrant,
  clock: Clock,
): JwtBearerForm {
  const sign = createJwtSigner(assertion, clock);
  return async ({ number, operation }, address) => {
    const scope = scopeOf(scopes, operation);
    const claims = { sub: fillTemplate(template, number), ...(scope === '' ? {} : { scope }) };
    return {
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: await sign(address, claims),
      ...parameters,
    };
  };
}

/**
 * Whether the grant itself shows which client asks: CAMARA takes the signed assertion of the JWT bearer grant
 * for the client's authentication, and a second one beside it would be two methods (RFC 6749 §2.3). Pure.
 */
export function grantProvesClient({
  grant,
  clientAuthentication,
}: Pick<AuthorizationSettings, 'grant' | 'clientAuthentication'>): boolean {
  return grant.type === 'jwt-bearer' && clientAuthentication.method === 'private_key_jwt';
}
