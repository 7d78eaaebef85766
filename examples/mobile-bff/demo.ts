import { setTimeout as sleep } from 'node:timers/promises';
import { onTermination } from '../../src/system/termination.ts';
import { startBff } from './bff.ts';
import { codesAt } from './app/codeReply.ts';
import { screen } from './app/screen.ts';
import { smsCode } from './app/smsCode.ts';
import { startIdentityProvider } from './identityProvider.ts';
import { askBff, startCodeServer } from './server/codes.ts';
import { userByToken } from './server/user.ts';

/** Test numbers of the simulator, and whom they play here. */
const SWAPPED = '+447700900001';
const USERS = [
  ['agrees after 2 s; same SIM card for ten years', 'alice', '+447700900050'],
  ['declines', 'bob', '+447700900052'],
  ['agrees at once; SIM card changed 2 hours ago', 'carol', SWAPPED],
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
  let sent = 0;
  await using server = await startCodeServer({
    userOf: userByToken(identityProvider.settings),
    askAbout: askBff(bff.url),
    sendSms: async (e164) => {
      sent += 1;
      say(`          the server sends a code to …${e164.slice(-3)}`);
    },
    note: (user, reason) => say(`          the server notes: no code for ${user}, ${reason}`),
  });
  say(`A mobile app, the server at ${server.url} that sends its SMS codes, and the BFF at ${bff.url}, which it queries first.
The app decides nothing and sends no number: the access token of the user who signed in says whose it is.`);
  for (const [user, subject, phoneNumber] of USERS) {
    say(`\nA user who ${user}:`);
    await show(server.url, await identityProvider.signIn({ subject, phoneNumber }));
  }
  say('\nA user who has not signed in:');
  await show(server.url);
  say(`          what the BFF returned to the server: ${await refusalWithoutToken(bff.url)}`);
  say('\nA thief, whose app was patched to say that all is well:');
  const thief = await identityProvider.signIn({ subject: 'mallory', phoneNumber: SWAPPED });
  say(`          the server says: ${await patched(server.url, thief)}`);
  say(`\n${sent} SMS sent; ${USERS.length + 2} users requested one.`);
}

/** Prints what the user sees, up to the last state. */
async function show(url: string, accessToken?: string): Promise<void> {
  interrupted.throwIfAborted();
  const startedMs = performance.now();
  const pause = (ms: number) => sleep(ms, undefined, { signal: interrupted });
  for await (const state of smsCode(
    codesAt(url, () => Promise.resolve(accessToken)),
    pause,
  )) {
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
    say(`  ${seconds.padStart(4)} s  ${state.kind.padEnd(10)}  "${screen(state)}"`);
  }
}

/** An app that anyone may change says what it likes. */
async function patched(url: string, accessToken: string): Promise<string> {
  const reply = await fetch(`${url}/codes`, {
    method: 'POST',
    headers: { authorization: `Bearer ${accessToken}` },
    body: JSON.stringify({ result: 'NOT_SWAPPED', phoneNumber: '+447700900050' }),
  });
  return `${reply.status} ${await reply.text()}`;
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
