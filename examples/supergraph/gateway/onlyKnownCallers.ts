import type { GatewayPlugin } from '@graphql-hive/gateway-runtime';
import { GraphQLError } from 'graphql';
import { createRemoteJWKSet, jwtVerify } from 'jose';

/** Whose access tokens a gateway takes. */
interface Callers {
  readonly jwksUrl: string;
  readonly issuer: string | undefined;
  readonly audience: string | undefined;
}

/**
 * Refuses callers without one of these access tokens, before any subgraph is called: not every subgraph checks
 * for itself. What a token allows is for the subgraphs to say.
 */
export function onlyKnownCallers({ jwksUrl, issuer = '', audience = '' }: Callers): GatewayPlugin {
  const keys = createRemoteJWKSet(new URL(jwksUrl));
  return {
    async onExecute({ args, setResultAndStopExecution }) {
      const { request } = args.contextValue;
      const [, token = ''] =
        /^Bearer (\S+)$/iu.exec(request.headers.get('authorization') ?? '') ?? [];
      try {
        await jwtVerify(token, keys, { issuer, audience, requiredClaims: ['exp', 'sub'] });
      } catch {
        setResultAndStopExecution({ errors: [UNAUTHENTICATED] });
      }
    },
  };
}

/** One word for every flaw. */
const UNAUTHENTICATED = new GraphQLError(
  'Missing or invalid access token. Send `Authorization: Bearer <token>`.',
  { extensions: { code: 'UNAUTHENTICATED', http: { status: 401 } } },
);
