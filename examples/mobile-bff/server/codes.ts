import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CodeReply } from '../app/codeReply.ts';
import { MySimSwapDocument } from '../generated/graphql.ts';
import { createClient } from './client.ts';
import { judge, type Verdict } from './verdict.ts';

/** Ten days: how long banks commonly distrust a new SIM card. */
const MAX_AGE_HOURS = 240;

/** Makes a code, keeps it, and sends it to this number. */
export type SendSms = (e164: string) => Promise<void>;

/** Finds out what is known of the SIM card of the user who has this access token. */
export type AskAbout = (accessToken: string | undefined) => Promise<Verdict>;

/**
 * The decision. It is made here, where no client can patch it, each time that an SMS is requested: only a number whose
 * SIM card the operator vouches for now is sent one, and only the user's own, as the access token says it. An app sends
 * nothing that counts.
 */
export async function requestCode(
  accessToken: string | undefined,
  askAbout: AskAbout,
  sendSms: SendSms,
): Promise<CodeReply> {
  const verdict = await askAbout(accessToken);
  switch (verdict.kind) {
    case 'trusted':
      await sendSms(verdict.e164);
      return { kind: 'sent', ending: verdict.e164.slice(-3) };
    // No SMS. The app requests again: that joins the consent, without a prompt.
    case 'pending':
    // No SMS, and another way to sign in.
    case 'swapped':
    case 'declined':
    case 'unanswered':
    case 'signedOut':
    // No SMS: unknown is never "not swapped". RATE_LIMITED and an operator's outage are among them.
    case 'unknown':
      return verdict;
  }
}

/** Asks the BFF with the user's own token: their consents and quotas are theirs, and it knows their number. */
export function askBff(url: string): AskAbout {
  return async (accessToken) => {
    const client = createClient(accessToken === undefined ? { url } : { url, accessToken });
    const answer = await client.query({
      query: MySimSwapDocument,
      variables: { maxAgeHours: MAX_AGE_HOURS },
      // An answer from yesterday says nothing about today's SIM card.
      fetchPolicy: 'no-cache',
      // A check that is null has an error beside it that says why; both are wanted.
      errorPolicy: 'all',
    });
    return judge(answer);
  };
}

const STATUS: Readonly<Record<CodeReply['kind'], number>> = {
  sent: 200,
  pending: 202,
  swapped: 403,
  declined: 403,
  unanswered: 403,
  signedOut: 401,
  unknown: 503,
};

/** `POST /codes`, on a free port. */
export interface CodeServer extends AsyncDisposable {
  readonly url: string;
}

/** Starts the server of which the app requests a code. */
export async function startCodeServer(askAbout: AskAbout, sendSms: SendSms): Promise<CodeServer> {
  const replyTo = async ({ method, url, headers }: IncomingMessage): Promise<CodeReply> => {
    if (method !== 'POST' || url !== '/codes') return { kind: 'unknown', code: 'NOT_FOUND' };
    const [, accessToken] = /^Bearer (\S+)$/i.exec(headers.authorization ?? '') ?? [];
    try {
      return await requestCode(accessToken, askAbout, sendSms);
    } catch {
      return { kind: 'unknown', code: 'NO_ANSWER' };
    }
  };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    // The body is not read: what a patched app writes there changes nothing.
    request.resume();
    const reply = await replyTo(request);
    const wait = 'retryAfterSeconds' in reply ? reply.retryAfterSeconds : undefined;
    if (wait !== undefined) response.setHeader('retry-after', wait);
    response.writeHead(STATUS[reply.kind], {
      'content-type': 'application/json',
      'cache-control': 'no-store',
    });
    response.end(JSON.stringify(reply));
  };
  const server = createServer((request, response) => void serve(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
