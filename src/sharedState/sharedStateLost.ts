/** A command without a reply by then counts as lost: what waits for it is told so. */
export const COMMAND_TIMEOUT_MS = 1000;

/** The shared store cannot be asked; what was sent to it last may have been done all the same. */
export class SharedStateLost extends Error {
  override readonly name = 'SharedStateLost';

  constructor() {
    super('The shared store cannot be reached.');
  }
}

/** The shared store has no room for what was to be written. */
export class OutOfMemory extends Error {
  override readonly name = 'OutOfMemory';
}

/** A store without room is as good as lost to what does not ask for room of its own. */
export function lostIfOutOfMemory(error: unknown): never {
  throw error instanceof OutOfMemory ? new SharedStateLost() : error;
}

/** A shared store that cannot be asked is no reason to break; what needed it is done without. */
export function unlessLost(error: unknown): undefined {
  if (!(error instanceof SharedStateLost)) throw error;
  return undefined;
}
