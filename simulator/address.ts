import { DIALECTS } from './dialects.ts';

/** The client that the simulator knows: no secrets, for they open nothing. */
export const DEMO_CLIENT = { clientId: 'demo-client', clientSecret: 'demo-secret' };

/** Where a simulator answers, and how to be its client. */
export interface SimulatorAddress {
  readonly authUrl: string;
  readonly simSwapUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** A simulator that runs by itself, in its default dialect. */
export function simulatorAt(url: string): SimulatorAddress {
  return { ...DEMO_CLIENT, authUrl: url, simSwapUrl: `${url}${DIALECTS['2.1'].paths.simSwap}` };
}
