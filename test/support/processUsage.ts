import { readFileSync } from 'node:fs';

/** Of proc(5), whatever the kernel's own. */
const TICKS_PER_SECOND = 100;

export interface ProcessUsage {
  readonly residentMib: number;
  readonly cpuSeconds: number;
  /** How long its first thread was ready to run while others ran; 0 where the kernel does not count it. */
  readonly waitedMs: number;
}

/** As Linux reports it (proc(5)). */
export function processUsage(pid: number): ProcessUsage {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const residentKib = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]);
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [, , , , , , , , , , , user, system] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [, waitedNs = 0] = scheduling(pid).split(' ').map(Number);
  return {
    residentMib: residentKib / 1024,
    cpuSeconds: (Number(user) + Number(system)) / TICKS_PER_SECOND,
    waitedMs: waitedNs / 1e6,
  };
}

function scheduling(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8');
  } catch {
    return '';
  }
}
