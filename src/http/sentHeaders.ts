import { subscribe, unsubscribe } from 'node:diagnostics_channel';

const CHANNEL = 'undici:client:sendHeaders';

/** What undici is about to write for: told when the first byte is handed to the socket. */
export interface Sender {
  sent: boolean;
}

/**
 * Knows which exchanges have reached a socket.
 *
 * A reset looks the same before and after bytes leave; undici says which by this channel. It names
 * its own request object, not ours, but it publishes in the same turn in which it calls the
 * handler's `onRequestStart`, so the sender that started last is the one whose headers leave.
 */
export class SentHeaders {
  #starting: Sender | undefined;

  readonly #onSendHeaders = (): void => {
    if (this.#starting !== undefined) this.#starting.sent = true;
    this.#starting = undefined;
  };

  constructor() {
    subscribe(CHANNEL, this.#onSendHeaders);
  }

  /** To be called from `onRequestStart`. */
  starting(sender: Sender): void {
    this.#starting = sender;
  }

  close(): void {
    unsubscribe(CHANNEL, this.#onSendHeaders);
  }
}
