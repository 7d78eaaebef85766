import { closeSync, openSync } from 'node:fs';

/** Prints the message to stderr and exits with status 1. */
export function fail(message: string): never {
  process.stderr.write(message.endsWith('\n') ? message : `${message}\n`);
  process.exit(1);
}

/** How a service manager, Ctrl-C and a terminal that closes ask a program to end. */
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** A terminal sends Ctrl-C to npm and to us, and npm passes it on: signals that come within this time are one. */
const SAME_REQUEST_MS = 2000;

export type TerminationSignal = (typeof SIGNALS)[number];

/**
 * Calls `stop` once, at the first signal that asks the process to end. One that comes later than the same request may
 * ends the process at once.
 *
 * @param hangUp called on SIGHUP in its place, unless that says that the terminal is gone
 */
export function onTermination(
  stop: (signal: TerminationSignal) => void,
  hangUp?: () => void,
): void {
  const hadTerminal = hasTerminal();
  let askedAtMs: number | undefined;
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      // On Windows it says nothing else.
      const isTerminalGone = process.platform === 'win32' || (hadTerminal && !hasTerminal());
      if (signal === 'SIGHUP' && hangUp !== undefined && !isTerminalGone) {
        if (askedAtMs === undefined) hangUp();
        return;
      }
      if (askedAtMs === undefined) {
        askedAtMs = performance.now();
        stop(signal);
      } else if (performance.now() - askedAtMs > SAME_REQUEST_MS) {
        process.removeAllListeners(signal);
        process.kill(process.pid, signal);
      }
    });
  }
}

function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
}

/** A listener once SIGHUP has come: whether it has is read from the listeners that there are. */
const hasCome = (): void => undefined;
const note = (): void => void process.off('SIGHUP', hasCome).on('SIGHUP', hasCome);

/** To be called before all else: without a listener SIGHUP ends a process, while it starts as well. */
export function withstandHangup(): void {
  process.on('SIGHUP', note);
}

/** Leaves SIGHUP to the listeners that there are by now, and hands on one that has come before them. */
export function handOverHangup(): void {
  const isDue = process.listeners('SIGHUP').includes(hasCome);
  process.off('SIGHUP', note).off('SIGHUP', hasCome);
  if (isDue) process.kill(process.pid, 'SIGHUP');
}
