import type { IncomingMessage, ServerResponse } from 'node:http';
import { READ_BYTES, type BodyPace } from './bodyPace.ts';
import { UNKNOWN_CALLER } from './fairShares.ts';
import type { Reply } from './reply.ts';
import { UnreadReplies, type Unread } from './unreadReplies.ts';

/** The most that is dropped of a refused body: its client may read a reply only once it has sent everything. */
const MAX_DROPPED_BYTES = 32 * 1024 * 1024;
const DROPPING_MS = 5000;
const LITTLE_BYTES = READ_BYTES / 4;
/** The limit on what is read of all refused bodies; each has at most one read while it waits for the next. */
const MAX_DROPPING_BYTES = 16 * 1024 * 1024;
/** A refused request until its body has been dropped: it holds its headers. */
const REFUSED_BYTES = 24 * 1024;

/** Bodies that are refused before they have come: thousands may be in one turn of the event loop. */
const REFUSED = ' refused';

/**
 * Replies whose connections end with them. The rest of the request is dropped first: a connection that is closed while
 * its client sends is reset, and the reply is lost with it.
 */
export class RefusedBodies {
  readonly #pace: BodyPace;
  readonly #dropping: UnreadReplies;

  /** @param unreadBytes the limit on replies, in addition to the bytes of bodies */
  constructor(pace: BodyPace, unreadBytes: number) {
    this.#pace = pace;
    this.#dropping = new UnreadReplies(DROPPING_MS, unreadBytes + MAX_DROPPING_BYTES);
  }

  /** How many are dropped now. */
  get size(): number {
    return this.#dropping.size;
  }

  /** Cuts off the clients whose replies are complete but for their end. */
  cutSent(): void {
    this.#dropping.cutSent();
  }

  /** The turn of a reply to a request whose body has not come; nothing is held of that in the meantime. */
  async turn(response: ServerResponse): Promise<Unread> {
    const unread = this.#dropping.add(response, REFUSED_BYTES);
    holdNothingOf(response.req);
    // One that is closed ends here: in the queue it would hold its request, which nothing counts any longer.
    await new Promise<void>((resolve) => {
      response.once('close', resolve);
      this.#pace.turn(REFUSED, resolve);
    });
    return unread;
  }

  /** @param unread where the reply had a {@link turn} */
  send(response: ServerResponse, body: Reply['body'], unread?: Unread): void {
    const { req: request } = response;
    response.write(body);
    const end = (): void => void response.end();
    const held = unread ?? this.#dropping.add(response, REFUSED_BYTES);
    let dropped = 0;
    request.on('data', ({ length }: Buffer) => {
      const before = dropped;
      dropped += length;
      if (before <= LITTLE_BYTES && dropped > LITTLE_BYTES) this.#dropping.hold(held, READ_BYTES);
      if (dropped > MAX_DROPPED_BYTES) end();
      else this.#pace.await(request, UNKNOWN_CALLER);
    });
    request.once('end', end).once('close', end).resume();
    request.socket.resume();
  }
}

/** Drops what has come of a body, and reads no more of it. */
function holdNothingOf(request: IncomingMessage): void {
  request.pause();
  request.read();
  // That has begun another read.
  process.nextTick(() => request.socket.pause());
}
