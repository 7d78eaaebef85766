import type { IncomingMessage } from 'node:http';

/**
 * What is too long is read on and dropped, up to so much: a browser that is refused while it still sends
 * would find its connection broken, and not the reply that says why.
 */
const MAX_DROPPED_BYTES = 32 * 1024 * 1024;

/** The body; `undefined` when it is longer than it may be, and when it breaks off. Never rejects. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= maxBytes) chunks.push(chunk);
      else if (length > maxBytes + MAX_DROPPED_BYTES) resolve(undefined);
      else chunks.length = 0;
    });
    request.once('end', () => resolve(length <= maxBytes ? Buffer.concat(chunks) : undefined));
    request.once('error', () => resolve(undefined));
    request.once('close', () => resolve(undefined));
  });
}
