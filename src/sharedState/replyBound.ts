/** More than any reply that scripts of ours have, or a map of a cluster. */
const MAX_REPLY_BYTES = 8 * 2 ** 20;

/** No line of a reply that ends is longer. */
const MAX_LINE_BYTES = 64 * 1024;

const LF = 10;

/** What a line of RESP 2 is. All else may be another reply to whoever reads it, such as one without an end. */
const LINE = /^(?:[$*](?<count>-1|\d{1,10})|[+:-][^\r\n]*)\r\n$/;

/**
 * Follows replies through the bytes of a connection (RESP 2), so that one without an end is found out: what reads them
 * keeps a reply until it is whole.
 */
export class ReplyBound {
  /** How many values are still to come of the reply that is under way. */
  #open = 0;
  /** How many bytes of a text are still to come, its end included. */
  #left = 0;
  #replyBytes = 0;
  #line = '';
  #replies = 0;

  /** How many are whole. */
  get replies(): number {
    return this.#replies;
  }

  get isOpen(): boolean {
    return this.#replyBytes > 0;
  }

  /** `false` when the reply is longer than any of ours, or is none. */
  admits(chunk: Buffer): boolean {
    let at = 0;
    while (at < chunk.length) {
      const from = at;
      if (this.#left > 0) {
        at = Math.min(chunk.length, at + this.#left);
        this.#left -= at - from;
      } else {
        const end = chunk.indexOf(LF, at);
        at = end < 0 ? chunk.length : end + 1;
        this.#line += chunk.toString('latin1', from, at);
        if (this.#line.length > MAX_LINE_BYTES) return false;
        if (end >= 0) {
          if (!this.#begin(this.#line)) return false;
          this.#line = '';
        }
      }
      this.#replyBytes += at - from;
      if (this.#replyBytes + this.#left > MAX_REPLY_BYTES) return false;
      if (this.#left > 0 || this.#open > 0 || this.#line !== '') continue;
      this.#replyBytes = 0;
      this.#replies += 1;
    }
    return true;
  }

  /** A value begins, or is whole with this line; `false` where it is no line. */
  #begin(line: string): boolean {
    const found = LINE.exec(line);
    if (found === null) return false;
    if (this.#open > 0) this.#open -= 1;
    const count = Number(found.groups?.['count'] ?? 0);
    if (line.startsWith('$')) this.#left = count < 0 ? 0 : count + 2;
    else if (line.startsWith('*')) this.#open += Math.max(0, count);
    return true;
  }
}
