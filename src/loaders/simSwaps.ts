import type { Clock } from '../clock.ts';
import { Endpoint } from '../http/endpoint.ts';
import { SentHeaders } from '../http/sentHeaders.ts';
import { ConsentedLookups } from '../lookups/consentedLookups.ts';
import type { ConsentSettings } from '../lookups/consentSettings.ts';
import { DirectLookups } from '../lookups/directLookups.ts';
import { Executor } from '../lookups/executor.ts';
import type { LookupRequest, LookupRoute } from '../lookups/lookupRoute.ts';
import { Operator } from '../operator/operator.ts';
import type { OperatorSettings } from '../operator/operatorSettings.ts';
import { createClientAuthentication } from '../tokens/clientAuthentication.ts';
import { MemoryConsentStore } from '../tokens/consents/memoryConsentStore.ts';
import { TokenManager } from '../tokens/tokenManager.ts';
import { createSimSwapLoader, type SimSwapLoader } from './simSwapLoader.ts';

/** SIM swap answers from one operator. */
export interface SimSwaps {
  /** The loader of one request. */
  forRequest(request: LookupRequest): SimSwapLoader;
  /** Waits for what must not be cut, then closes the connections. */
  close(): Promise<void>;
}

export function createSimSwaps(
  settings: OperatorSettings,
  consent: ConsentSettings,
  { clock }: { clock: Clock },
): SimSwaps {
  const sentHeaders = new SentHeaders();
  const endpoints: Endpoint[] = [];
  const endpoint = (url: string): Endpoint => {
    const made = new Endpoint({ ...settings, url }, sentHeaders);
    endpoints.push(made);
    return made;
  };
  const tokens = new TokenManager(
    settings,
    {
      clientCredentials: endpoint(`${settings.authUrl}/oauth/v1/token`),
      backchannelAuthentication: endpoint(`${settings.authUrl}/openIDConnectCIBA/v1/bc-authorize`),
      cibaToken: endpoint(`${settings.authUrl}/openIDConnectCIBA/v1/token`),
    },
    createClientAuthentication(settings.clientId, settings.clientAuthentication, clock),
    clock,
  );
  const operator = new Operator(
    settings,
    {
      retrieveDate: endpoint(`${settings.simSwapUrl}/retrieve-date`),
      check: endpoint(`${settings.simSwapUrl}/check`),
    },
    clock,
  );
  const route: LookupRoute =
    settings.flow === '2-legged'
      ? new DirectLookups(tokens, operator, clock)
      : new ConsentedLookups(
          {
            tokens,
            operator,
            store: new MemoryConsentStore(clock),
            offer: settings,
            rules: {
              doubtMs: consent.doubtSeconds * 1000,
              deniedMs: consent.deniedSeconds * 1000,
              resultMs: consent.resultSeconds * 1000,
              leaseMs: 2 * settings.timeoutMs,
              firstPoll: settings.cibaFirstPoll,
            },
            clock,
          },
          consent.waitMs,
        );
  return {
    forRequest: (request) => createSimSwapLoader(new Executor(route, settings, request)),
    async close() {
      await route.close();
      await Promise.all(endpoints.map((one) => one.close()));
      sentHeaders.close();
    },
  };
}
