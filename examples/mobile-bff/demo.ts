import { setTimeout as sleep } from 'node:timers/promises';
import { onTermination } from '../../src/system/termination.ts';
import { startBff } from './bff.ts';
import { createClient, type ClientSettings } from './app/client.ts';
import { screen } from './app/screen.ts';
import { simSwapCheck } from './app/simSwapCheck.ts';
import { startIdentityProvider } from './identityProvider.ts';

/** Test numbers of the simulator, and whom they play here. */
const USERS = [
  ['agrees after 2 s; same SIM card for ten years', 'alice', '+447700900050'],
  ['declines', 'bob', '+447700900052'],
  ['agrees at once; SIM card changed 2 hours ago', 'carol', '+447700900001'],
  ['is not known to the operator', 'dave', '+447700900010'],
] as const;

const interruption = new AbortController();
const interrupted = interruption.signal;
onTermination(() => interruption.abort());

try {
  await run();
} catch (error) {
  if (interrupted.aborted) {
    say('\nStopped.');
  } else {
    // What went wrong is on the screen already, from the program that it happened to.
    say(
      `\nThe demo ended early: ${error instanceof Error ? error.message : 'its cause is unknown'}`,
    );
    process.exitCode = 1;
  }
}

async function run(): Promise<void> {
  await using identityProvider = await startIdentityProvider();
  await using bff = await startBff(identityProvider);
  say(`A mobile app, and its BFF at ${bff.url}, which serves the app's documents and no other.
The app sends no number: the access token of the user who signed in says whose it is.`);
  for (const [user, subject, phoneNumber] of USERS) {
    say(`\nA user who ${user}:`);
    const accessToken = await identityProvider.signIn({ subject, phoneNumber });
    await show({ url: bff.url, accessToken });
  }
  say('\nA user who has not signed in:');
  await show({ url: bff.url });
  say(`          what the BFF told the app: ${await refusalWithoutToken(bff.url)}`);
}

/** Prints what the user sees, up to the last verdict. */
async function show(settings: ClientSettings): Promise<void> {
  interrupted.throwIfAborted();
  const client = createClient(settings);
  const startedMs = performance.now();
  const pause = (ms: number) => sleep(ms, undefined, { signal: interrupted });
  for await (const verdict of simSwapCheck(client, pause)) {
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
    say(`  ${seconds.padStart(4)} s  ${verdict.kind.padEnd(10)}  "${screen(verdict)}"`);
  }
}

/** The body does not matter: it is not read. */
async function refusalWithoutToken(url: string): Promise<string> {
  const reply = await fetch(url, { method: 'POST', body: '{}' });
  const { errors } = (await reply.json()) as {
    errors: [{ message: string; extensions: { code: string } }];
  };
  const [{ message, extensions }] = errors;
  return `${reply.status} ${extensions.code}, "${message}"`;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
