// Loaded with --import where npm starts a program: npm that is killed, rather than ended by a signal,
// does not end its programs. They look for it, and end as they do on SIGTERM.
const LOOK_EVERY_MS = 1000;

const parent = process.ppid;
const looking = setInterval(() => {
  if (process.ppid === parent) return;
  clearInterval(looking);
  process.kill(process.pid, 'SIGTERM');
}, LOOK_EVERY_MS).unref();
