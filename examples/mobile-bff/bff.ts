import { fileURLToPath } from 'node:url';
import { launchSimulator } from '../../simulator/launch.ts';
import { startProgram } from '../processes.ts';
import type { IdentityProvider } from './identityProvider.ts';

/** The BFF, and the operator simulator that it calls. */
export interface Bff extends AsyncDisposable {
  /** Where GraphQL is. */
  readonly url: string;
  /** The counts of the simulator. */
  readonly statsUrl: string;
}

/** The documents of the app as it is now. */
const DOCUMENTS = fileURLToPath(new URL('generated/persisted-documents.json', import.meta.url));

/**
 * Starts the BFF in the way that an app's backend runs it, on a free port. It answers the users
 * of this identity provider, each about their own number.
 */
export async function startBff(
  identityProvider: IdentityProvider,
  documents: string = DOCUMENTS,
): Promise<Bff> {
  await using started = new AsyncDisposableStack();
  const simulator = await launchSimulator();
  started.defer(() => simulator.stop());
  const bff = await startProgram(new URL('../../src/main.ts', import.meta.url), {
    PORT: '0',
    ROLE: 'bff',
    TRUSTED_DOCUMENTS: documents,
    ...identityProvider.settings,
    OPERATOR_AUTH_URL: simulator.authUrl,
    OPERATOR_SIM_SWAP_URL: simulator.simSwapUrl,
    OPERATOR_CLIENT_ID: simulator.clientId,
    OPERATOR_CLIENT_SECRET: simulator.clientSecret,
    OPERATOR_FLOW: '3-legged',
    // The app shows that it waits, rather than a request that hangs.
    CONSENT_WAIT_MS: '300',
  });
  started.defer(() => bff.stop());
  const running = started.move();
  return {
    url: `${bff.url}/graphql`,
    statsUrl: `${simulator.authUrl}/stats`,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
