import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTermination } from '../../src/system/termination.ts';
import { startBff } from './bff.ts';
import { codesAt } from './app/codeReply.ts';
import { screen } from './app/screen.ts';
import { smsCode } from './app/smsCode.ts';
import { startIdentityProvider } from './identityProvider.ts';
import { startPage } from './pageServer.ts';
import { PEOPLE } from './people.ts';
import { askBff, startCodeServer } from './server/codes.ts';
import { userByToken } from './server/user.ts';

/** Where the page answers, unless another program does. */
const PORT = 4200;

/** Of the thief's victim. */
const SWAPPED = '+447700900001';

const interruption = new AbortController();
const interrupted = interruption.signal;
onTermination(() => interruption.abort());

try {
  // A page where somebody looks, text where a program reads.
  if (process.stdout.isTTY) await page();
  else await run();
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

/** A phone in a page, beside the log of its server, until it is interrupted. */
async function page(): Promise<void> {
  say('Starting the operator simulator, the BFF, the server and the page …');
  await using server = await startPage(PORT, ({ text }) => say(`  ${text}`));
  say(`
A phone, and the log of its server: ${server.url}   (open it in a browser)

The same as text: npm run mobile | cat
Ctrl-C ends all.
`);
  if (!interrupted.aborted) await once(interrupted, 'abort');
  say('\nStopped.');
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
  for (const person of PEOPLE) {
    say(`\nA user who ${person.does}:`);
    await show(server.url, await identityProvider.signIn(person));
  }
  say('\nA user who has not signed in:');
  await show(server.url);
  say(`          what the BFF returned to the server: ${await refusalWithoutToken(bff.url)}`);
  say('\nA thief, whose app was patched to say that all is well:');
  const thief = await identityProvider.signIn({ subject: 'mallory', phoneNumber: SWAPPED });
  say(`          the server says: ${await patched(server.url, thief)}`);
  say(`\n${sent} SMS sent; ${PEOPLE.length + 2} users requested one.`);
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
