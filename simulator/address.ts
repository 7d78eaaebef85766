import { DIALECTS } from './dialects.ts';

/** The client that the simulator knows; its secrets are public, since they protect nothing. */
export const DEMO_CLIENT = { clientId: 'demo-client', clientSecret: 'demo-secret' };

/** The addresses of a simulator, and its client's credentials. */
export interface SimulatorAddress {
  readonly authUrl: string;
  readonly simSwapUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** A simulator that runs in another process, in its default dialect. */
export function simulatorAt(url: string): SimulatorAddress {
  return { ...DEMO_CLIENT, authUrl: url, simSwapUrl: `${url}${DIALECTS['2.1'].paths.simSwap}` };
}
