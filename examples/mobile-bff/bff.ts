import { fileURLToPath } from 'node:url';
import { launchSimulator } from '../../src/simulator/launch.ts';
import { startProgram } from '../processes.ts';

/** The BFF, and the operator simulator that it asks. */
export interface Bff extends AsyncDisposable {
  /** Where GraphQL is. */
  readonly url: string;
  /** Where the simulator tells what it has seen. */
  readonly statsUrl: string;
}

/** Starts the BFF in the way that an app's backend runs it, on a free port. */
export async function startBff(): Promise<Bff> {
  await using started = new AsyncDisposableStack();
  const simulator = await launchSimulator();
  started.defer(() => simulator.stop());
  const bff = await startProgram(new URL('../../src/main.ts', import.meta.url), {
    PORT: '0',
    ROLE: 'bff',
    TRUSTED_DOCUMENTS: fileURLToPath(
      new URL('generated/persisted-documents.json', import.meta.url),
    ),
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
