import type { OperatorProfile } from '../config/operator.ts';
import { addressesBelow } from '../operator/operatorDefaults.ts';
import type { OperatorSettings } from '../operator/operatorSettings.ts';
import type { SimulatorAddress } from '../../simulator/address.ts';

/** The simulator as an operator, with the profile that is configured. */
export function simulatedOperator(
  profile: OperatorProfile,
  { authUrl, simSwapUrl, clientId, clientSecret }: SimulatorAddress,
): OperatorSettings {
  return {
    ...profile,
    ...addressesBelow(authUrl, simSwapUrl),
    clientId,
    clientAuthentication: { method: 'basic', secret: clientSecret },
  };
}
