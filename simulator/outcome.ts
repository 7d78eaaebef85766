import type { Fault } from './fault.ts';
import type { Reply } from './reply.ts';

/** What a request comes to: the reply, and what becomes of it. */
export interface Outcome {
  readonly reply: Reply;
  readonly fault?: Fault | undefined;
  /** Called once the reply has left, or the client. */
  readonly afterwards?: () => void;
}
