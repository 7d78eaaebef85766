import { fork } from 'node:child_process';
import { once } from 'node:events';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DialectName } from './dialects.ts';
import { DEMO_CLIENT, type SimulatorAddress } from './address.ts';

/** A simulator in a process of its own, and how to be its client. */
export interface LaunchedSimulator extends SimulatorAddress {
  stop(): Promise<void>;
}

/** The options of a launched simulator. */
export interface LaunchOptions {
  /** CAMARA SIM Swap 2.1 where absent. */
  readonly dialect?: DialectName;
  /** The file with the client's key, where it signs assertions. */
  readonly clientKey?: string;
}

/** Starts the simulator on a free port; rejects when it ends before it listens. */
export async function launchSimulator(options: LaunchOptions = {}): Promise<LaunchedSimulator> {
  const { dialect, clientKey } = options;
  // TypeScript in a checkout, JavaScript in a build.
  const extension = extname(import.meta.filename);
  const program = fileURLToPath(new URL(`main${extension}`, import.meta.url));
  const given = [
    ['--port', '0'],
    dialect === undefined ? [] : ['--dialect', dialect],
    clientKey === undefined ? [] : ['--client-key', clientKey],
  ];
  const child = fork(program, given.flat(), {
    // Ctrl-C in a terminal goes to the whole group; the simulator is to outlive the server's drain.
    detached: true,
    // The variables of a .env are in our environment already.
    execArgv: process.execArgv.filter((option) => !option.startsWith('--env-file')),
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const exited = once(child, 'exit');
  const ready = await Promise.race([
    once(child, 'message').then(([message]: unknown[]) => message),
    exited.then(() => undefined),
  ]);
  if (!isAddress(ready)) throw new Error('The operator simulator ended before it listened.');
  return {
    ...DEMO_CLIENT,
    authUrl: ready.authUrl,
    simSwapUrl: ready.simSwapUrl,
    async stop() {
      if (child.connected) child.disconnect();
      await exited;
    },
  };
}

function isAddress(message: unknown): message is { authUrl: string; simSwapUrl: string } {
  return (
    typeof message === 'object' &&
    message !== null &&
    'authUrl' in message &&
    typeof message.authUrl === 'string' &&
    'simSwapUrl' in message &&
    typeof message.simSwapUrl === 'string'
  );
}
