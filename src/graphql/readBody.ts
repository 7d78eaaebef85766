import type { IncomingMessage } from 'node:http';

/**
 * Reads a request's body as text; `undefined` when it is longer than it may be, and when it breaks off.
 * By events: an iterator over so short a stream costs as much as parsing what it holds.
 */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= maxBytes) chunks.push(chunk);
      else resolve(undefined);
    });
    request.once('end', () => resolve(Buffer.concat(chunks, length).toString('utf8')));
    request.once('error', () => resolve(undefined));
    request.once('close', () => resolve(undefined));
  });
}
