import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { build } from 'vite';
import { portOrFree } from '../processes.ts';
import { startBff } from './bff.ts';
import { startIdentityProvider } from './identityProvider.ts';
import { PEOPLE_OF_PAGE } from './people.ts';
import { askBff, codeHandler } from './server/codes.ts';
import { userByToken } from './server/user.ts';

/** A line of the server's log, as the page shows it. */
export interface LogLine {
  readonly atMs: number;
  /** What was replied to the phone, what was sent by SMS, or what only the server learns. */
  readonly from: 'reply' | 'sms' | 'note';
  readonly text: string;
}

/** What happened since the start. */
export interface Counts {
  /** Prompts of owners, by the operator. */
  readonly prompts: number;
  /** Lookups at the operator, which bills them. */
  readonly lookups: number;
  readonly sms: number;
}

/** A page of another site whose name resolves to this machine sends that name. */
const OTHER_HOST = 'The page is not served under this host. Open the address that was printed.';

/** The page, the server of codes behind it, the BFF and the operator, running. */
export interface PageServer extends AsyncDisposable {
  readonly url: string;
}

/** The page shows them; a page that is opened later gets them first. */
const MAX_LINES = 200;

/** A page that reads no more is left. */
const MAX_UNREAD_BYTES = 256 * 1024;

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'";

/**
 * Serves a phone in a page: its app requests codes of the server that this also is, whose log the page shows beside it.
 *
 * @param port another, free one where it is in use
 * @param onLine gets each line of the log as well
 */
export async function startPage(
  port: number,
  onLine: (line: LogLine) => void = () => undefined,
): Promise<PageServer> {
  await using started = new AsyncDisposableStack();
  const files = await builtPage();
  const identityProvider = started.use(await startIdentityProvider());
  const bff = started.use(await startBff(identityProvider));

  const lines: LogLine[] = [];
  const readers = new Set<ServerResponse>();
  const log = (from: LogLine['from'], text: string): void => {
    const line = { atMs: Date.now(), from, text };
    lines.push(line);
    if (lines.length > MAX_LINES) lines.shift();
    onLine(line);
    broadcast('line', line);
  };
  const broadcast = (event: string, data: object): void => {
    for (const reader of readers) {
      if (reader.writableLength > MAX_UNREAD_BYTES) reader.destroy();
      else write(reader, event, data);
    }
  };
  let sms = 0;
  const counts = async (): Promise<Counts> => {
    const reply = await fetch(bff.statsUrl);
    const { prompts, lookups } = (await reply.json()) as Omit<Counts, 'sms'>;
    return { prompts, lookups, sms };
  };

  const requestCode = codeHandler({
    userOf: userByToken(identityProvider.settings),
    askAbout: askBff(bff.url),
    sendSms: async (e164) => {
      sms += 1;
      log('sms', `A code to …${e164.slice(-3)}`);
    },
    note: (user, reason) => log('note', `No code for ${user}: ${reason}`),
  });
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname } = new URL(request.url ?? '/', 'http://page');
    switch (`${request.method} ${pathname}`) {
      case 'POST /codes': {
        const reply = await requestCode(request, response);
        log('reply', `POST /codes: ${response.statusCode} ${JSON.stringify(reply)}`);
        return broadcast('counts', await counts());
      }
      // In place of the user's signing in: the app has their access token.
      case 'POST /access-token': {
        request.resume();
        const who = new URL(request.url ?? '/', 'http://page').searchParams.get('who');
        const person = PEOPLE_OF_PAGE.find(({ subject }) => subject === who);
        if (person === undefined) return void response.writeHead(404).end();
        response.writeHead(200, { 'content-type': 'text/plain', 'cache-control': 'no-store' });
        return void response.end(await identityProvider.signIn(person));
      }
      case 'GET /log': {
        response.writeHead(200, {
          'content-type': 'text/event-stream',
          'cache-control': 'no-store',
        });
        write(response, 'counts', await counts());
        for (const line of lines) write(response, 'line', line);
        readers.add(response);
        return void response.on('close', () => readers.delete(response));
      }
      default: {
        request.resume();
        const file = request.method === 'GET' ? files.get(pathname) : undefined;
        if (file === undefined) return void response.writeHead(404).end();
        response.writeHead(200, {
          'content-type': file.type,
          'content-security-policy': POLICY,
          'x-content-type-options': 'nosniff',
          'cache-control': 'no-store',
        });
        return void response.end(file.body);
      }
    }
  };

  const server = createServer((request, response) => {
    if (request.headers.host !== `127.0.0.1:${request.socket.localPort}`) {
      request.resume();
      return void response.writeHead(421).end(OTHER_HOST);
    }
    // The BFF or the operator has ended: what happened to it is on the terminal.
    handle(request, response).catch(() => response.destroy());
  });
  server.listen(await portOrFree(port), '127.0.0.1');
  await once(server, 'listening');
  started.defer(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  const running = started.move();
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

function write(response: ServerResponse, event: string, data: object): void {
  response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}

interface PageFile {
  readonly type: string;
  readonly body: string | Uint8Array;
}

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};

/** The files of page/, by path. Built each time, which takes less than a second: they may have changed. */
async function builtPage(): Promise<ReadonlyMap<string, PageFile>> {
  const result = await build({
    root: `${import.meta.dirname}/page`,
    logLevel: 'error',
    build: { write: false, modulePreload: { polyfill: false } },
  });
  if (!('output' in result))
    throw new Error('The page was built in another form than it is served in.');
  const files = new Map<string, PageFile>();
  for (const output of result.output) {
    const type = TYPES[output.fileName.split('.').at(-1) ?? ''];
    if (type === undefined) continue;
    const path = output.fileName === 'index.html' ? '/' : `/${output.fileName}`;
    files.set(path, { type, body: output.type === 'chunk' ? output.code : output.source });
  }
  return files;
}
