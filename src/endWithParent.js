// Loaded with --import where npm starts a program: npm that is killed, rather than asked to end, tells its
// programs nothing. They look for it, and end as they do on SIGTERM.
const LOOK_EVERY_MS = 1000;

const parent = process.ppid;
const looking = setInterval(() => {
  if (process.ppid === parent) return;
  clearInterval(looking);
  process.kill(process.pid, 'SIGTERM');
}, LOOK_EVERY_MS).unref();
