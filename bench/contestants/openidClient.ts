import * as openid from 'openid-client';
import { Pool } from 'undici';
import { compete, operatorAddress } from '../processes/competing.ts';
import { CLIENT, SCOPES } from './schema.ts';

// What one would take for the 3-legged flow: openid-client asks, polls and waits as OpenID CIBA says.

const { authUrl, simSwapUrl } = operatorAddress();
const configuration = new openid.Configuration(
  {
    issuer: authUrl,
    backchannel_authentication_endpoint: `${authUrl}/openIDConnectCIBA/v1/bc-authorize`,
    token_endpoint: `${authUrl}/openIDConnectCIBA/v1/token`,
  },
  CLIENT.id,
  {},
  openid.ClientSecretBasic(CLIENT.secret),
);
openid.allowInsecureRequests(configuration);
const { origin, pathname } = new URL(simSwapUrl);
const lookupPool = new Pool(origin);

compete({
  /** One consent and the lookup it buys; resolves to how long that took. */
  consent: async (number: string): Promise<number> => {
    const startedMs = performance.now();
    const asked = await openid.initiateBackchannelAuthentication(configuration, {
      login_hint: `tel:${number}`,
      scope: SCOPES.check,
    });
    const token = await openid.pollBackchannelAuthenticationGrant(configuration, asked);
    const reply = await lookupPool.request({
      path: `${pathname}/check`,
      method: 'POST',
      headers: {
        authorization: `Bearer ${token.access_token}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ maxAge: 240 }),
    });
    await reply.body.json();
    return performance.now() - startedMs;
  },
});
