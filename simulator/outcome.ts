import type { Fault } from './fault.ts';
import type { Reply } from './reply.ts';

/** The outcome of a request: the reply, and a fault on its way. */
export interface Outcome {
  readonly reply: Reply;
  readonly fault?: Fault | undefined;
  /** Called once the reply has left, or the client has gone. */
  readonly afterwards?: () => void;
}
