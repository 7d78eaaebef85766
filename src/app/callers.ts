import { developmentKeys } from '../caller/developmentTokens.ts';
import { Gate } from '../caller/gate.ts';
import { SigningKeys } from '../caller/signingKeys.ts';
import type { CallerSettings, IssuerSettings } from '../caller/caller.ts';
import { TokenVerifier } from '../caller/tokenVerifier.ts';
import type { Clock } from '../system/clock.ts';
import { PublishedJson } from '../http/connections/publishedJson.ts';
import type { Log } from '../log/log.ts';
import { logAbout } from '../log/logAbout.ts';

interface OpenedGateParts {
  readonly clock: Clock;
  readonly log: Log;
}

/** Without keys where every caller is anonymous. */
export function openGate(
  { tokens, batchScope, routerSecrets, purposes }: CallerSettings,
  parts: OpenedGateParts,
) {
  const { clock, log } = parts;
  const source = tokens && keySourceOf(tokens, parts);
  const keys = source && new SigningKeys({ fetch: () => source.fetch(), clock, log });
  const verifier =
    keys &&
    new TokenVerifier({
      ...tokens,
      batchScope,
      keys,
      clock,
      onRefused: (reason) => log.warn("a caller's access token was refused", { reason }),
    });
  const gate = new Gate({ routerSecrets, tokens: verifier, purposes });
  return { gate, keys, close: async () => source?.close() };
}

function keySourceOf(
  { isForDevelopment, jwksUrl, jwksConnection }: IssuerSettings,
  parts: OpenedGateParts,
): Pick<PublishedJson, 'fetch' | 'close'> {
  if (isForDevelopment === true) {
    return { fetch: async () => developmentKeys(), close: () => Promise.resolve() };
  }
  const log = logAbout({ setting: 'JWT_JWKS_URL' }, parts.log);
  return new PublishedJson(jwksUrl, jwksConnection, { ...parts, log });
}
