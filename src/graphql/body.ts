import type { IncomingMessage } from 'node:http';
import { READ_BYTES, type BodyPace } from './bodyPace.ts';
import { Share, type FairShares, type RequestLoad } from './fairShares.ts';

/** From the headers to the last byte. */
const BODY_TIMEOUT_MS = 5000;

/** The memory of a chunk in addition to its bytes, of which it may have only one. */
const CHUNK_BYTES = 512;

export type BodyFault = 'too-long' | 'too-many-values' | 'no-room' | 'late' | 'broken-off';

type BodyBounds = Pick<RequestLoad, 'maxBodyBytes' | 'maxBodyValues'>;

export interface BodyParts {
  readonly bodies: FairShares;
  readonly pace: BodyPace;
  readonly load: BodyBounds;
}

/**
 * The body of a request as its bytes arrive. From then on they count among those of all bodies, until they are taken or
 * the body is given up.
 */
export class Body {
  readonly #chunks: Buffer[] = [];
  readonly #share: Share;

  private constructor(share: Share) {
    this.#share = share;
  }

  /**
   * Never rejects. Nothing more is held once a body exceeds a limit; one that announces too many bytes is not read. Reads
   * by events: an iterator over a stream this short costs as much as parsing.
   */
  static read(
    request: IncomingMessage,
    caller: string,
    { bodies, pace, load: { maxBodyBytes, maxBodyValues } }: BodyParts,
  ): Promise<Body | BodyFault> {
    const announced = request.headers['content-length'];
    if (Number(announced ?? 0) > maxBodyBytes) return Promise.resolve('too-long');
    const whole = Number(announced ?? Infinity);
    const { promise, resolve } = Promise.withResolvers<Body | BodyFault>();
    const body = new Body(new Share(bodies, caller));
    const values = new ValueCount();
    let length = 0;
    let isOver = false;
    const end = (fault?: BodyFault): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      if (fault !== undefined) body.giveUp();
      resolve(fault ?? body);
    };
    // Ends only after what has arrived is read: this process may have been busy.
    const timer = setTimeout(() => setImmediate(end, 'late'), BODY_TIMEOUT_MS);
    request.on('data', (chunk: Buffer) => {
      if (isOver) return;
      length += chunk.length;
      const isLast = length === whole;
      // One more chunk is held for a body that waits.
      const aheadBytes = body.#chunks.length === 0 && !isLast ? READ_BYTES : 0;
      if (length > maxBodyBytes) end('too-long');
      else if (!body.#share.add(chunk.length + CHUNK_BYTES + aheadBytes)) end('no-room');
      // Only of what there is room for: to count takes as long as all else of a request that is refused.
      else if (values.add(chunk) > maxBodyValues) end('too-many-values');
      else {
        body.#chunks.push(chunk);
        if (!isLast) pace.await(request, caller);
      }
    });
    const breakOff = (): void => end('broken-off');
    request.on('end', end).on('error', breakOff).on('close', breakOff);
    return promise;
  }

  /** Returns its text, once: nothing of it is held afterwards. */
  take(): string {
    const [first, ...others] = this.#chunks;
    const text = (others.length === 0 ? first : Buffer.concat(this.#chunks))?.toString() ?? '';
    this.giveUp();
    return text;
  }

  giveUp(): void {
    this.#chunks.length = 0;
    this.#share.release();
  }
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPENING_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const OPENING_BRACE = 0x7b;

/**
 * Counts the values of JSON as its bytes arrive: its commas and opening brackets outside of strings. Each may take 3
 * bytes on the wire and some 64 on the heap, so that JSON that exceeds the limit must not be parsed.
 */
class ValueCount {
  #values = 0;
  #isInString = false;
  /** An index in the next chunk: the character after a backslash may be there. */
  #at = 0;

  add(chunk: Uint8Array): number {
    // In local variables, and strings in a loop of their own: four times as fast.
    let values = this.#values;
    let isInString = this.#isInString;
    let at = this.#at;
    while (at < chunk.length) {
      let byte = chunk[at];
      if (isInString) {
        while (byte !== undefined && byte !== QUOTE) {
          at += byte === BACKSLASH ? 2 : 1;
          byte = chunk[at];
        }
        if (byte === QUOTE) isInString = false;
        else break;
      } else if (byte === QUOTE) isInString = true;
      else if (byte === COMMA || byte === OPENING_BRACE || byte === OPENING_BRACKET) values += 1;
      at += 1;
    }
    this.#values = values;
    this.#isInString = isInString;
    this.#at = at - chunk.length;
    return values;
  }
}
