let hasCome = false;
const note = (): void => {
  hasCome = true;
};

/** To be called before all else: without a listener SIGHUP ends a process, while it starts as well. */
export function withstandHangup(): void {
  process.on('SIGHUP', note);
}

/** Leaves SIGHUP to the listeners that there are by now, and hands on one that has come before them. */
export function handOverHangup(): void {
  process.off('SIGHUP', note);
  if (hasCome) process.kill(process.pid, 'SIGHUP');
}
