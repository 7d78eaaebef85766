import { developmentKeys } from '../caller/developmentTokens.ts';
import { Gate, RouterProof } from '../caller/gate.ts';
import { SigningKeys } from '../caller/signingKeys.ts';
import type { CallerSettings, IssuerSettings } from '../caller/callerSettings.ts';
import { TokenVerifier } from '../caller/tokenVerifier.ts';
import type { Clock } from '../system/clock.ts';
import type { WatchFiles } from '../system/fromFiles.ts';
import { PublishedJson } from '../http/connections/publishedJson.ts';
import type { Log } from '../log/log.ts';
import { logAbout } from '../log/logAbout.ts';

interface OpenedGateParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly watchFiles: WatchFiles;
}

/** Everything that decides who is let in. */
export interface OpenedGate {
  readonly gate: Gate;
  /** Absent where every caller is anonymous. */
  readonly keys: SigningKeys | undefined;
  readonly close: () => Promise<void>;
}

/** Opens what decides who is let in. */
export function openGate(
  { tokens, routerSecrets, purposes }: CallerSettings,
  parts: OpenedGateParts,
): OpenedGate {
  const router = routerSecrets.length === 0 ? undefined : new RouterProof(routerSecrets);
  if (tokens === undefined) {
    const gate = new Gate({ router, tokens, purposes });
    return { gate, keys: undefined, close: () => Promise.resolve() };
  }
  const { verifier, keys, close } = openVerifier(tokens, parts);
  return { gate: new Gate({ router, tokens: verifier, purposes }), keys, close };
}

interface OpenedVerifier {
  readonly verifier: TokenVerifier;
  readonly keys: SigningKeys;
  readonly close: () => Promise<void>;
}

function openVerifier(tokens: IssuerSettings, parts: OpenedGateParts): OpenedVerifier {
  const { clock, log } = parts;
  const source = tokens.isForDevelopment === true ? DEVELOPMENT_KEYS : publishedKeys(tokens, parts);
  const keys = new SigningKeys({ fetch: () => source.fetch(), clock, log });
  const verifier = new TokenVerifier(tokens, keys, clock, undefined, (reason) => {
    log.warn("a caller's access token was refused", { reason });
  });
  return { verifier, keys, close: () => source.close() };
}

interface KeySource {
  fetch(): Promise<unknown>;
  close(): Promise<void>;
}

const DEVELOPMENT_KEYS: KeySource = {
  fetch: () => Promise.resolve(developmentKeys()),
  close: () => Promise.resolve(),
};

function publishedKeys(
  { jwksUrl, jwksConnection }: IssuerSettings,
  parts: OpenedGateParts,
): KeySource {
  const log = logAbout({ setting: 'JWT_JWKS_URL' }, parts.log);
  return new PublishedJson(jwksUrl, jwksConnection, { ...parts, log });
}
