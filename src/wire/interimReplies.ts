import type { Socket } from 'node:net';

const START = 'HTTP/1.1 100';
const CONTINUE = /^HTTP\/1\.1 100(?: [^\r\n]*)?\r\n(?:[^\r\n]+\r\n)*\r\n/;
/** A longer one is passed on, and refused there. */
const MAX_CHARACTERS = 4096;

/**
 * Skips each `100 Continue` before a reply. A client must be able to parse one that it did not expect (RFC 9110 §15.2),
 * but undici breaks the connection. One exchange at a time: the first bytes that are read after some were written begin
 * a reply.
 */
export function withoutContinue<Connected extends Socket>(socket: Connected): Connected {
  const read = socket.read.bind(socket);
  const write = socket.write.bind(socket);
  let isAtStart = true;
  let held: Buffer = Buffer.alloc(0);
  return Object.assign(socket, {
    write(...written: Parameters<Socket['write']>) {
      isAtStart = true;
      return write(...written);
    },
    read(size?: number): unknown {
      for (;;) {
        const chunk: unknown = read(size);
        if (!isAtStart || !Buffer.isBuffer(chunk)) return chunk;
        held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
        let interim = continueIn(held);
        for (; interim !== undefined && interim > 0; interim = continueIn(held)) {
          held = held.subarray(interim);
        }
        if (interim === undefined) continue;
        isAtStart = false;
        const reply = held;
        held = Buffer.alloc(0);
        return reply;
      }
    },
  });
}

/** The length of a `100 Continue` at the start; 0 where there is none, `undefined` where that is not known yet. Pure. */
function continueIn(bytes: Buffer): number | undefined {
  if (!START.startsWith(bytes.toString('latin1', 0, START.length))) return 0;
  const whole = CONTINUE.exec(bytes.toString('latin1', 0, MAX_CHARACTERS))?.[0].length;
  return whole ?? (bytes.length < MAX_CHARACTERS ? undefined : 0);
}
