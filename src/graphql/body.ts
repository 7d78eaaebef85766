import type { IncomingMessage } from 'node:http';
import type { FairShares, Share } from './fairShares.ts';

/** From the headers to the last byte. */
const BODY_TIMEOUT_MS = 5000;

/** What a chunk takes beside its bytes, of which it may have one. */
const CHUNK_BYTES = 512;

export type BodyFault = 'too-long' | 'no-room' | 'late' | 'broken-off';

/**
 * The body of a request as its bytes arrive. They count among those of all bodies from then on, until they are taken or
 * the body is given up.
 */
export class Body {
  readonly #chunks: Buffer[] = [];
  readonly #share: Share;

  private constructor(share: Share) {
    this.#share = share;
  }

  /** Never rejects. A body that announces more than `maxBytes` is not read. */
  static async read(
    request: IncomingMessage,
    caller: string,
    bodies: FairShares,
    maxBytes: number,
  ): Promise<Body | BodyFault> {
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) return 'too-long';
    const body = new Body(bodies.open(caller));
    const fault = await body.#read(request, maxBytes);
    if (fault === undefined) return body;
    body.giveUp();
    return fault;
  }

  /** Its text, once: nothing of it is held after this. */
  take(): string {
    const [first, ...others] = this.#chunks;
    const text = (others.length === 0 ? first : Buffer.concat(this.#chunks))?.toString() ?? '';
    this.giveUp();
    return text;
  }

  /** By events: an iterator over a stream this short costs as much as parsing. */
  #read(request: IncomingMessage, maxBytes: number): Promise<BodyFault | undefined> {
    const { promise, resolve } = Promise.withResolvers<BodyFault | undefined>();
    let length = 0;
    let isOver = false;
    const end = (fault?: BodyFault): void => {
      isOver = true;
      clearTimeout(timer);
      resolve(fault);
    };
    // After what has arrived is read: this process may have been busy.
    const timer = setTimeout(() => setImmediate(end, 'late'), BODY_TIMEOUT_MS);
    request.on('data', (chunk: Buffer) => {
      if (isOver) return;
      length += chunk.length;
      if (length > maxBytes) end('too-long');
      else if (this.#share.add(chunk.length + CHUNK_BYTES)) this.#chunks.push(chunk);
      else end('no-room');
    });
    request.once('end', () => end());
    const breakOff = (): void => end('broken-off');
    request.once('error', breakOff);
    request.once('close', breakOff);
    return promise;
  }

  giveUp(): void {
    this.#chunks.length = 0;
    this.#share.release();
  }
}
