import { fork, type ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../freePort.ts';
import { withEntry } from '../operatorEntry.ts';
import type { Random } from '../random.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const LOOK_EVERY_MS = 50;

/** By which header the operator learns which replica it is that asks. */
export const REPLICA_HEADER = 'x-replica';

interface Replica {
  readonly name: string;
  readonly url: string;
  readonly child: ChildProcess;
}

/** Some replicas of the service as it is started, of which each can die at any time. */
export class Fleet {
  kills = 0;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #replicas: Replica[] = [];
  #launched = 0;

  constructor(environment: Readonly<Record<string, string>>) {
    this.#environment = environment;
  }

  async start(size: number): Promise<void> {
    this.#replicas.push(...(await Promise.all(Array.from({ length: size }, () => this.#launch()))));
  }

  /** The address of any one of them. */
  anyUrl(random: Random): string {
    return this.#replicas[random.below(this.#replicas.length)]?.url ?? '';
  }

  /**
   * Kills one as a failing machine does, and puts another in its place; tells which, first. Until that
   * one is there the others are asked, as behind a load balancer.
   */
  async killOne(random: Random, onKill: (name: string) => void): Promise<void> {
    const index = random.below(this.#replicas.length);
    const [replica] = this.#replicas.splice(index, 1);
    if (replica === undefined) return;
    onKill(replica.name);
    replica.child.kill('SIGKILL');
    this.kills += 1;
    this.#replicas.push(await this.#launch());
  }

  stop(): void {
    for (const { child } of this.#replicas) child.kill('SIGKILL');
  }

  async #launch(): Promise<Replica> {
    this.#launched += 1;
    const name = `replica-${this.#launched}`;
    const port = await freePort();
    const child = fork(MAIN, [], {
      env: withEntry({
        PATH: process.env['PATH'],
        ...this.#environment,
        PORT: String(port),
        OPERATOR_HEADERS: JSON.stringify({ [REPLICA_HEADER]: name }),
      }),
      silent: true,
    });
    child.stdout?.resume();
    child.stderr?.pipe(process.stderr);
    const url = `http://127.0.0.1:${port}`;
    while (!(await isAlive(url))) {
      if (child.exitCode !== null) throw new Error('A replica ended before it listened.');
      await sleep(LOOK_EVERY_MS);
    }
    return { name, url, child };
  }
}

async function isAlive(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/livez`)).ok;
  } catch {
    return false;
  }
}
