import { link, mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RedisClusterServers } from '../redisCluster.ts';

/**
 * What the masters of a cluster acknowledged, by their append-only files: a server writes there before it replies, so
 * that a write which stands in the file of a master, and in none of the replica that took over from it, is proven lost.
 */
export class WriteLogs {
  readonly #servers: RedisClusterServers;
  #rounds = 0;

  constructor(servers: RedisClusterServers) {
    this.#servers = servers;
  }

  /**
   * Keeps hold of what all servers have written, and will write, whatever becomes of them. What is returned tells which
   * keys have lost a write since then: to be called when the cluster is whole again.
   */
  async begin(): Promise<() => Promise<ReadonlySet<string>>> {
    this.#rounds += 1;
    const kept = join(this.#servers.folder, `round-${this.#rounds}`);
    for (const port of this.#servers.ports) {
      const folder = join(kept, String(port));
      await mkdir(folder, { recursive: true });
      const from = this.#servers.writesOf(port);
      const names = await readdir(from);
      await Promise.all(names.map((name) => link(join(from, name), join(folder, name))));
    }
    const pairs = await this.#servers.pairs();
    return async () => {
      const masters = await this.#servers.masters();
      const tookOver = pairs.filter(({ replica }) => masters.includes(replica));
      const lost = await Promise.all(
        tookOver.map(({ master, replica }) =>
          lostBetween(
            [join(kept, String(master))],
            [join(kept, String(replica)), this.#servers.writesOf(replica)],
          ),
        ),
      );
      return new Set(lost.flat());
    };
  }
}

/** The keys whose last write stands in the one's files and in none of the other's. */
async function lostBetween(
  master: readonly string[],
  replica: readonly string[],
): Promise<readonly string[]> {
  const had = new Set((await commandsIn(replica)).flat());
  const last = new Map<string, string>();
  for (const [name = '', key = '', ...values] of await commandsIn(master)) {
    switch (name.toUpperCase()) {
      case 'HSET': {
        // `version V sealed S` for a record, `name fact` for a fact.
        const [field = '', value = ''] = values;
        last.set(key, field === 'version' ? value : field);
        break;
      }
      case 'DEL':
      case 'UNLINK':
        last.delete(key);
        break;
      default:
        break;
    }
  }
  return [...last].filter(([, written]) => !had.has(written)).map(([key]) => key);
}

async function commandsIn(folders: readonly string[]): Promise<readonly string[][]> {
  const read = await Promise.all(
    folders.map(async (folder) => {
      const names = (await readdir(folder)).filter((name) => name.endsWith('.aof'));
      return Promise.all(
        names.map((name) => readFile(join(folder, name)).catch(() => Buffer.alloc(0))),
      );
    }),
  );
  return read.flat().flatMap(commandsOf);
}

/** Reads commands as they are written to an append-only file (RESP arrays); one that is cut off was not acknowledged. */
function commandsOf(file: Buffer): string[][] {
  const commands: string[][] = [];
  let at = 0;
  const line = (): string => {
    const end = file.indexOf('\r\n', at);
    const text = end < 0 ? '' : file.toString('latin1', at, end);
    at = end < 0 ? file.length : end + 2;
    return text;
  };
  while (at < file.length) {
    const count = Number(line().slice(1));
    if (!Number.isInteger(count)) continue;
    const words: string[] = [];
    for (let n = 0; n < count && at < file.length; n += 1) {
      const length = Number(line().slice(1));
      if (at + length + 2 > file.length) return commands;
      words.push(file.toString('latin1', at, at + length));
      at += length + 2;
    }
    if (words.length === count) commands.push(words);
  }
  return commands;
}
