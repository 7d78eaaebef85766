import type { IncomingMessage } from 'node:http';

/** Reads a request's body as text; `undefined` when it is longer than it may be. */
export async function readBody(
  request: IncomingMessage,
  largestBytes: number,
): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > largestBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length).toString('utf8');
}
