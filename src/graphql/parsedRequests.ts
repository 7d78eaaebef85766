import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { PerTurn } from '../system/perTurn.ts';

/** Pieces of a body that are smaller are put together. */
const PIECE_BYTES = 1024;
/** In one turn of the event loop. In a crowd each of the eight or so steps of a request that has begun waits for a turn. */
const MAX_PARSING_MS = 8;
/** How many of the new connections that wait are read again in one turn. */
const NEW_A_TURN = 8;

/** What is dropped of what comes behind a request before its reply: a client that sends more is cut off. */
const MAX_BEHIND_BYTES = 128 * 1024;

/** The connections of a server. */
interface Connections {
  /** Without a request yet. */
  readonly new: Iterable<Socket>;
  /** All others. */
  readonly kept: () => Iterable<Socket>;
}

/**
 * The requests of a server. Node's parser goes at once through all that it has read of a connection: these are what it
 * may find there, with {@link stopParserBehind}.
 */
export function parsedRequests(connections: Connections): typeof IncomingMessage {
  const countParsed = pausingOthers(connections);
  return class extends IncomingMessage {
    #hasBody = false;
    #pieces: Buffer[] = [];
    #piecesBytes = 0;

    constructor(socket: Socket) {
      super(socket);
      countParsed(socket);
    }

    /** Puts small pieces of a body together: each by itself would be held with half a kilobyte, and take several ticks. */
    override push(piece: Buffer | null): boolean {
      if (piece === null || piece.length >= PIECE_BYTES || !this.#hasBody) {
        this.#hasBody = true;
        if (this.#pieces.length > 0) this.#pushPieces();
        return super.push(piece);
      }
      if (this.#pieces.length === 0) setImmediate(() => this.#pushPieces());
      this.#pieces.push(piece);
      this.#piecesBytes += piece.length;
      if (this.#piecesBytes >= PIECE_BYTES) {
        this.#pushPieces();
        countParsed(this.socket);
      }
      return true;
    }

    #pushPieces(): void {
      if (this.#pieces.length === 0) return;
      const piece = Buffer.concat(this.#pieces);
      this.#pieces = [];
      this.#piecesBytes = 0;
      if (!super.push(piece)) this.socket.pause();
    }
  };
}

/**
 * Once a turn of the event loop has parsed requests or small pieces of bodies for {@link MAX_PARSING_MS}, what has come of
 * other connections waits: what began meanwhile is served in between. Those that clients keep wait for the next turn. Of
 * new ones a few are read in each: however many come at once, each is made to wait once, and they hold up no turn.
 */
function pausingOthers(connections: Connections): (parsed: Socket) => void {
  const newOnes = new PerTurn(NEW_A_TURN);
  /** When this turn of the event loop began to parse. */
  let sinceMs: number | undefined;
  return (parsed) => {
    const nowMs = performance.now();
    if (sinceMs === undefined) {
      sinceMs = nowMs;
      setImmediate(() => (sinceMs = undefined));
    }
    if (nowMs < sinceMs + MAX_PARSING_MS) return;
    sinceMs = Infinity;
    const waiting = {
      kept: paused(connections.kept(), parsed),
      new: paused(connections.new, parsed),
    };
    setImmediate(() => {
      for (const socket of waiting.kept) socket.resume();
      for (const socket of waiting.new) newOnes.call(() => socket.resume());
    });
  };
}

/**
 * Pauses those that are read, and returns them.
 *
 * @param parsed is paused where its body is enough for now: to resume it would read more of that
 */
function paused(connections: Iterable<Socket>, parsed: Socket): readonly Socket[] {
  const read = [...connections].filter((socket) => socket !== parsed && !socket.isPaused());
  for (const socket of read) socket.pause();
  return read;
}

/** What Node parses a connection with. It is not documented; Node 24 and 26 have it. */
interface Parser {
  /** Takes a request whose headers have come, and returns how llhttp is to go on. */
  onIncoming: (request: IncomingMessage, isKeptAlive: boolean) => number;
}

/** It goes no further than this request. */
const UPGRADE = 2;

/**
 * A request that comes while its connection is busy is taken for an upgrade, at which the parser stops: the server emits
 * `upgrade` with it, and with what was read behind it.
 */
export function stopParserBehind(socket: Socket, isBusy: (socket: Socket) => boolean): void {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as Node makes each
  const { parser } = socket as Socket & { readonly parser: Parser };
  const begin = parser.onIncoming;
  parser.onIncoming = (request, isKeptAlive) => {
    if (!isBusy(socket)) return begin(request, isKeptAlive);
    Object.assign(request, { upgrade: true });
    return UPGRADE;
  };
}

/** Drops what was sent behind the last request of a connection, and cuts off a client that sends too much of it. */
export function dropBehind(socket: Socket, behind: Duplex, head: Buffer): void {
  let droppedBytes = head.length;
  behind.on('error', () => undefined);
  behind.on('data', ({ length }: Buffer) => {
    droppedBytes += length;
    if (droppedBytes > MAX_BEHIND_BYTES) socket.destroy();
  });
}
