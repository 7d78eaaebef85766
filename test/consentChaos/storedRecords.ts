import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { ConsentRecord } from '../../src/consents/consentRecord.ts';
import type { Chronicle } from './chronicle.ts';

/** Reads what was written at a key; `undefined` where it is no record of a consent. */
export type OpenRecord = (
  key: string,
  sealed: string,
) => { readonly number: string; readonly record: ConsentRecord } | undefined;

/** What MONITOR says of a record that a script writes: when, in seconds by the server's clock, where, and what. */
const WRITE =
  /^\+(?<seconds>[\d.]+) \[\d+ lua\] "HSET" "(?<key>[^"]+)" "version" "\d+" "sealed" "(?<sealed>[^"]+)"/;

const CONNECT_AGAIN_MS = 250;

/** Tells the chronicle of every record of a consent that servers come to hold. */
export class StoredRecords {
  readonly #open: OpenRecord;
  readonly #chronicle: Chronicle;
  readonly #sockets = new Set<Socket>();
  readonly #leasedUntilMs = new Map<string, number>();
  #isClosed = false;

  constructor(ports: readonly number[], open: OpenRecord, chronicle: Chronicle) {
    this.#open = open;
    this.#chronicle = chronicle;
    for (const port of ports) this.#follow(port);
  }

  /** Whether an exchange about a number is claimed: it is under way, or who claimed it was killed. */
  isLeased(number: string): boolean {
    return (this.#leasedUntilMs.get(number) ?? 0) > Date.now();
  }

  close(): void {
    this.#isClosed = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  #follow(port: number): void {
    if (this.#isClosed) return;
    const socket = connect(port, '127.0.0.1');
    this.#sockets.add(socket);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      // The server may be killed, and come again.
      setTimeout(() => this.#follow(port), CONNECT_AGAIN_MS).unref();
    });
    socket.write('MONITOR\r\n');
    // It raises its socket's errors, the one of a server that is not there among them.
    const lines = createInterface(socket).on('error', () => undefined);
    lines.on('line', (line) => {
      const { seconds = '', key = '', sealed = '' } = WRITE.exec(line)?.groups ?? {};
      const opened = key === '' ? undefined : this.#open(key, sealed);
      if (opened === undefined) return;
      const { number, record } = opened;
      const { consent } = record;
      const isLeased = consent !== undefined && 'leaseUntilMs' in consent;
      this.#leasedUntilMs.set(number, isLeased ? consent.leaseUntilMs : 0);
      const atMs = Number(seconds) * 1000;
      this.#chronicle.happened(`the store holds: ${wordsOf(record, atMs)}`, number, atMs);
    });
  }
}

function wordsOf({ consent, ends }: ConsentRecord, atMs: number): string {
  const forMs = (untilMs: number) => `for ${Math.round(untilMs - atMs)} ms`;
  const ended = ends.map((end) => `${end.kind} ${named(end)} ${forMs(end.untilMs)}`);
  if (consent === undefined) return ['no consent', ...ended].join('; ');
  const isLeased = 'leaseUntilMs' in consent;
  const lease = isLeased ? ` leased ${forMs(consent.leaseUntilMs)}` : '';
  return [`${consent.state} ${named(consent)}${lease}`, ...ended].join('; ');
}

/** Enough to tell the consents of one number apart. */
function named({ id }: { readonly id: string }): string {
  return id.slice(0, 4);
}
