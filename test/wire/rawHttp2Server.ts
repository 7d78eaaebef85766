import { createServer as createHttpsServer } from 'node:https';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { ClosingServer, listen } from '../support/listening.ts';
import type { Certificate } from '../tls/certificate.ts';
import { answerWithout } from './recordingServer.ts';

/** Takes HTTP/2 where it is offered and lets `misbehave` have the connection; answers over HTTP/1.1. */
export class RawHttp2Server extends ClosingServer {
  url = '';
  /** The protocol of each connection. */
  readonly protocols: string[] = [];

  static async start(
    certificate: Certificate,
    misbehave: (socket: TLSSocket) => void,
  ): Promise<RawHttp2Server> {
    const https = createHttpsServer(answerWithout);
    const server = createTlsServer({ ...certificate, ALPNProtocols: ['h2', 'http/1.1'] });
    const raw = new RawHttp2Server(server);
    server.on('secureConnection', (socket) => {
      socket.on('error', () => undefined);
      const protocol = String(socket.alpnProtocol);
      raw.protocols.push(protocol);
      if (protocol === 'h2') misbehave(socket);
      else https.emit('secureConnection', socket);
    });
    raw.url = `https://${new URL(await listen(server)).host}/check`;
    return raw;
  }
}

/** Length, type, flags and stream of a frame (RFC 9113 §4.1), and its payload. */
export function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** The server's own, all of them at their defaults. */
export const SETTINGS = frame(4, 0, 0, Buffer.alloc(0));

/** GOAWAY: no stream was acted on. */
export function goAway(code: number): Buffer {
  const payload = Buffer.alloc(8);
  payload.writeUInt32BE(code, 4);
  return frame(7, 0, 0, payload);
}

/** Calls back with the number of each stream that the client opens. */
export function onStream(socket: TLSSocket, handle: (stream: number) => void): void {
  const PREFACE_BYTES = 24;
  let received = Buffer.alloc(0);
  let at = PREFACE_BYTES;
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    while (received.length >= at + 9) {
      const end = at + 9 + received.readUIntBE(at, 3);
      if (received.length < end) return;
      if (received.readUInt8(at + 3) === 1) handle(received.readUInt32BE(at + 5));
      at = end;
    }
  });
}

/** `:status: 200` in HPACK (RFC 7541 appendix A), with more of the reply to come. */
export function okHead(stream: number): Buffer {
  return frame(1, 0x4, stream, Buffer.of(0x88));
}

/** `:status: 102`, written out: an interim reply. */
export function interimHead(stream: number): Buffer {
  const INDEXED_NAME_OF_STATUS = 0x08;
  return frame(1, 0x4, stream, Buffer.of(INDEXED_NAME_OF_STATUS, 3, ...Buffer.from('102')));
}

/** Some of a body, with more to come. */
export function data(stream: number, text: string): Buffer {
  return frame(0, 0, stream, Buffer.from(text));
}

export function reset(stream: number, code: number): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(code);
  return frame(3, 0, stream, payload);
}
