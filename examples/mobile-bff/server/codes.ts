import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CodeReply } from '../app/codeReply.ts';
import { MySimSwapDocument } from '../generated/graphql.ts';
import { createClient } from './client.ts';
import { CodeLimits } from './codeLimits.ts';
import type { UserOf } from './user.ts';
import { judge, type Verdict } from './verdict.ts';

/** Ten days: how long banks commonly distrust a new SIM card. */
const MAX_AGE_HOURS = 240;

/** Makes a code, keeps it, and sends it to this number. */
export type SendSms = (e164: string) => Promise<void>;

/** Finds out what is known of the SIM card of the user who has this access token. */
export type AskAbout = (accessToken: string | undefined) => Promise<Verdict>;

/** What a server of codes is made of. */
export interface CodeServerParts {
  readonly userOf: UserOf;
  readonly askAbout: AskAbout;
  readonly sendSms: SendSms;
  /** Notes why this user got no code: for your log and your fraud team. */
  readonly note: (user: string, reason: string) => void;
  /** Of the codes that were sent; new where absent. */
  readonly limits?: CodeLimits;
}

const ANOTHER_WAY: CodeReply = { kind: 'anotherWay' };

/**
 * The decision. It is made here, where no client can patch it, each time that an SMS is requested: only a number whose
 * SIM card the operator vouches for now is sent one, and only the user's own, as the access token says it. An app sends
 * nothing that counts, and does not learn why there is no code: whoever holds a new SIM card would learn it.
 */
async function requestCode(
  accessToken: string | undefined,
  { userOf, askAbout, sendSms, note, limits }: Required<CodeServerParts>,
): Promise<CodeReply> {
  const user = await userOf(accessToken);
  if (user === undefined) return { kind: 'signedOut' };
  // Before the operator is asked: it costs nothing, and depends on the user's own codes alone.
  const retryAfterSeconds = limits.retryAfterSeconds(user);
  if (retryAfterSeconds > 0) return { kind: 'tooManyCodes', retryAfterSeconds };
  const verdict = await askAbout(accessToken);
  switch (verdict.kind) {
    case 'trusted': {
      const claim = limits.claim(user, verdict.e164);
      switch (claim.kind) {
        case 'claimed':
          await sendSms(verdict.e164);
          return { kind: 'sent', ending: verdict.e164.slice(-3) };
        case 'userLimit':
          return { kind: 'tooManyCodes', retryAfterSeconds: claim.retryAfterSeconds };
        case 'numberLimit':
          note(user, 'NUMBER_LIMIT');
          return ANOTHER_WAY;
      }
    }
    // No SMS: unknown is never "not swapped". RATE_LIMITED and an operator's outage are among the reasons.
    case 'withheld':
      note(user, verdict.reason);
      return ANOTHER_WAY;
    // No SMS. The app requests again: that joins the consent, without a prompt.
    case 'pending':
    case 'signedOut':
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
  anotherWay: 200,
  pending: 202,
  signedOut: 401,
  tooManyCodes: 429,
};

/** Replies to `POST /codes`, and returns what it replied; undefined to any other request, whose status is 404. */
export type CodeHandler = (
  request: IncomingMessage,
  response: ServerResponse,
) => Promise<CodeReply | undefined>;

/** For a server of your own. */
export function codeHandler(given: CodeServerParts): CodeHandler {
  const parts = { limits: new CodeLimits(), ...given };
  const replyTo = async ({ headers }: IncomingMessage): Promise<CodeReply> => {
    const [, accessToken] = /^Bearer (\S+)$/i.exec(headers.authorization ?? '') ?? [];
    try {
      return await requestCode(accessToken, parts);
    } catch {
      return ANOTHER_WAY;
    }
  };
  return async (request, response) => {
    // The body is not read: what a patched app writes there changes nothing.
    request.resume();
    if (request.method !== 'POST' || request.url !== '/codes') {
      response.writeHead(404).end();
      return undefined;
    }
    const reply = await replyTo(request);
    if ('retryAfterSeconds' in reply) response.setHeader('retry-after', reply.retryAfterSeconds);
    response.writeHead(STATUS[reply.kind], {
      'content-type': 'application/json',
      'cache-control': 'no-store',
    });
    response.end(JSON.stringify(reply));
    return reply;
  };
}

/** `POST /codes`, on a free port. */
export interface CodeServer extends AsyncDisposable {
  readonly url: string;
}

/** Starts the server of which the app requests a code. */
export async function startCodeServer(parts: CodeServerParts): Promise<CodeServer> {
  const handle = codeHandler(parts);
  const server = createServer((request, response) => void handle(request, response));
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
