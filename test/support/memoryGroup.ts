import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const MIB = 1024 * 1024;

/** The hierarchy of memory groups that this process may write: version 2, or else 1. */
const GROUPS = [
  { folder: '/sys/fs/cgroup', limit: 'memory.max' },
  { folder: '/sys/fs/cgroup/memory', limit: 'memory.limit_in_bytes' },
] as const;

let groups = 0;

/** A group of processes with so much memory, as a container has it. */
export class MemoryGroup implements Disposable {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** `undefined` where no group can be made here. */
  static make(memoryMib: number): MemoryGroup | undefined {
    for (const { folder, limit } of GROUPS) {
      const group = join(folder, `sim-swap-${process.pid}-${(groups += 1)}`);
      try {
        mkdirSync(group);
      } catch {
        continue;
      }
      try {
        writeFileSync(join(group, limit), String(memoryMib * MIB), { flag: 'r+' });
        return new MemoryGroup(group);
      } catch {
        // The group has no limit of memory: another hierarchy has it.
        rmdirSync(group);
      }
    }
    return undefined;
  }

  /** The command that runs this one in the group, as the same process. */
  entered(command: string, words: readonly string[]): readonly [string, readonly string[]] {
    const enter = `echo $$ > ${join(this.#folder, 'cgroup.procs')} && exec "$0" "$@"`;
    return ['sh', ['-c', enter, command, ...words]];
  }

  /** Once its processes have ended. */
  [Symbol.dispose](): void {
    rmdirSync(this.#folder);
  }
}
