import { createServer, type Socket } from 'node:net';
import { ClosingServer, listen } from '../support/listening.ts';

/** A request as it arrived. */
export interface WireRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

/** A reply before it is written. */
export interface WireReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A TCP server, for replies that no HTTP server would send. */
export class WireServer extends ClosingServer {
  constructor(answer: (socket: Socket, request: WireRequest) => void) {
    super(
      createServer((socket) => {
        socket.on('error', () => socket.destroy());
        onRequest(socket, (request) => answer(socket, request));
      }),
    );
  }

  /** Resolves to its address. */
  listen(): Promise<string> {
    return listen(this.server);
  }
}

/** Reads the requests of a connection in sequence. */
function onRequest(socket: Socket, handle: (request: WireRequest) => void): void {
  let received = '';
  socket.setEncoding('latin1');
  socket.on('data', (chunk: string) => {
    received += chunk;
    for (;;) {
      const headEnd = received.indexOf('\r\n\r\n');
      if (headEnd < 0) return;
      const [requestLine = '', ...lines] = received.slice(0, headEnd).split('\r\n');
      const headers = Object.fromEntries(
        lines.map((line) => {
          const colon = line.indexOf(':');
          return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
        }),
      );
      const bodyEnd = headEnd + 4 + Number(headers['content-length'] ?? 0);
      if (received.length < bodyEnd) return;
      const body = received.slice(headEnd + 4, bodyEnd);
      received = received.slice(bodyEnd);
      handle({ path: requestLine.split(' ')[1] ?? '', headers, body });
    }
  });
}

/** The bytes of a reply, with its content length or a wrong one. */
export function toBytes(reply: WireReply, contentLength = Buffer.byteLength(reply.body)): string {
  const head = Object.entries({ ...reply.headers, 'content-length': String(contentLength) })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
  return `HTTP/1.1 ${reply.status} Chaos\r\n${head}\r\n${reply.body}`;
}
