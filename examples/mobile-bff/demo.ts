import { setTimeout as sleep } from 'node:timers/promises';
import { startBff } from './bff.ts';
import { createClient } from './app/client.ts';
import { screen } from './app/screen.ts';
import { simSwapCheck } from './app/simSwapCheck.ts';

/** Test numbers of the simulator, and whom they play here. */
const USERS = [
  ['agrees after 2 s; same SIM card for ten years', '+447700900050'],
  ['declines', '+447700900052'],
  ['agrees at once; SIM card changed 2 hours ago', '+447700900001'],
  ['is not known to the operator', '+447700900010'],
] as const;

const interruption = new AbortController();
const interrupted = interruption.signal;
// Each time: npm may pass a Ctrl-C on that came here as well, and the second must not end the stopping.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => interruption.abort());
}

try {
  await run();
} catch (error) {
  if (!interrupted.aborted) throw error;
  say('\nStopped.');
}

async function run(): Promise<void> {
  await using bff = await startBff();
  const client = createClient({ url: bff.url });
  const pause = (ms: number) => sleep(ms, undefined, { signal: interrupted });
  say(`A mobile app, and its BFF at ${bff.url}, which serves the app's documents and no other.`);
  for (const [user, e164] of USERS) {
    interrupted.throwIfAborted();
    say(`\nA user who ${user}:`);
    const startedMs = performance.now();
    for await (const verdict of simSwapCheck(client, e164, pause)) {
      const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
      say(`  ${seconds.padStart(4)} s  ${verdict.kind.padEnd(10)}  "${screen(verdict)}"`);
    }
  }
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
