import { closeSync, openSync } from 'node:fs';

/** Prints the message to stderr and exits with status 1. */
export function fail(message: string): never {
  process.stderr.write(message.endsWith('\n') ? message : `${message}\n`);
  process.exit(1);
}

/** The signals of service managers, of Ctrl-C and of a terminal that closes. */
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** A terminal sends Ctrl-C to npm and to us, and npm passes it on: signals within this time count as one. */
const SAME_REQUEST_MS = 2000;

export type TerminationSignal = (typeof SIGNALS)[number];

/**
 * Replaces the earlier listeners, and calls `stop` once, at the first signal to end. A second signal, later than a copy
 * of the first could arrive, ends the process at once.
 *
 * @param hangUp called instead on SIGHUP, unless that means that the terminal is gone
 */
export function onTermination(
  stop: (signal: TerminationSignal) => void,
  hangUp?: () => void,
): void {
  const hadTerminal = hasTerminal();
  const isHangUpDue = process.listeners('SIGHUP').includes(sighupMarker);
  let requestedAtMs: number | undefined;
  for (const signal of SIGNALS) {
    const before = process.listeners(signal);
    process.on(signal, () => {
      // On Windows it has no other meaning.
      const isTerminalGone = process.platform === 'win32' || (hadTerminal && !hasTerminal());
      if (signal === 'SIGHUP' && hangUp !== undefined && !isTerminalGone) {
        if (requestedAtMs === undefined) hangUp();
        return;
      }
      if (requestedAtMs === undefined) {
        requestedAtMs = performance.now();
        stop(signal);
      } else if (performance.now() - requestedAtMs > SAME_REQUEST_MS) {
        process.removeAllListeners(signal);
        process.kill(process.pid, signal);
      }
    });
    // Only now: a signal that has arrived and is not dispatched yet would be lost with the last listener.
    for (const listener of before) process.off(signal, listener);
  }
  if (isHangUpDue) process.kill(process.pid, 'SIGHUP');
}

function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
}

/** The listener after SIGHUP: its presence among the listeners shows whether SIGHUP came. */
const sighupMarker = (): void => undefined;
const note = (): void => void process.off('SIGHUP', sighupMarker).on('SIGHUP', sighupMarker);

/**
 * Must be called first: without a listener SIGHUP ends a process, also during its start, and no other signal ends one that
 * is the first of its container. SIGHUP is left to `onTermination`.
 */
export function beginWithSignals(end: (signal: TerminationSignal) => void): void {
  process.on('SIGTERM', end).on('SIGINT', end).on('SIGHUP', note);
}
