import type { SilentReplies } from '../http/echo.ts';
import type { EndpointName } from '../http/wireSettings.ts';
import { namesNumber } from '../tokens/tokenReach.ts';
import { sendsPhoneNumber } from './lookupRequest.ts';
import type { OperatorSettings } from './operatorSettings.ts';

/**
 * What becomes of an endpoint's replies over HTTP/1.1 where it echoes nothing. A stray token must not answer
 * about another person: some operators answer by the token, whatever the body says. So the connections of a
 * token endpoint are kept only where its tokens name no number, or where a lookup names the number and is
 * refused with another's token. Pure.
 */
export function silentReplies(settings: OperatorSettings, endpoint: EndpointName): SilentReplies {
  switch (endpoint) {
    case 'token': {
      if (!namesNumber(settings.grant)) return 'alike';
      // One that is used again would do its harm again.
      const isUsedOnce = settings.tokens.use === 'once';
      const isRefused = settings.tokenMismatch === 'refused' && sendsPhoneNumber(settings);
      return isUsedOnce && isRefused ? 'checked' : 'fresh';
    }
    case 'backchannelAuthentication':
    case 'cibaToken':
    case 'retrieveDate':
    case 'check':
      return 'fresh';
  }
}
