import { errorName } from '../domain/errors.ts';
import { createLog } from '../log/log.ts';

/** The places that are logged: the first of them is where the error was made. */
const MAX_PLACES = 3;

/** A call in a stack, with its file, line and column. */
const CALL = /^ {4}at .*?((?:file:|node:|\/)[^()]*:\d+:\d+)\)?$/gm;

/**
 * Ends the process with 1 at an error that nothing catches, such as one in a timer of a profile. So does Node, which
 * would also print the error's message: that may quote a number or a secret.
 */
export function endOnDefects(): void {
  const log = createLog('error');
  process.on('uncaughtException', (error: unknown) => {
    log.error('The process ends because of an error that nothing caught. Report it.', {
      error: errorName(error),
      at: placesOf(error),
    });
    process.exit(1);
  });
}

function placesOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { message, stack = '' } = error;
  // What is left of the message has no place that looks like one of a call.
  const calls = stack.replace(message, '').matchAll(CALL);
  return Array.from(calls, ([, place]) => place)
    .slice(0, MAX_PLACES)
    .join(' ');
}
