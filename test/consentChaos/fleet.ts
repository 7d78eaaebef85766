import { fork, type ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../freePort.ts';
import { DEMO_ENTRY, OperatorsFile } from '../operatorsFile.ts';
import type { Random } from '../random.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const LOOK_EVERY_MS = 50;

/**
 * An exchange is given up by then (OPERATOR_TIMEOUT_MS). The service counts from sending, and the operator from
 * receiving: so much earlier it may prompt.
 */
export const GIVEN_UP_MS = 2000;

/** By which header operators learn which replica it is that asks. */
export const REPLICA_HEADER = 'x-replica';

/** A prefix that none of the numbers has. */
const NO_NUMBERS = '+1';

/** What replicas are to ask. */
interface Asked {
  /** The addresses of two operators, by their names. */
  readonly operators: ReadonlyMap<string, string>;
  /** The address of the directory that names one of them for a number. */
  readonly directory: string;
}

interface Replica {
  readonly name: string;
  readonly url: string;
  readonly child: ChildProcess;
}

/** Some replicas of the service as it is started, of which each can die at any time. */
export class Fleet {
  kills = 0;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #asked: Asked;
  readonly #replicas: Replica[] = [];
  #launched = 0;

  constructor(environment: Readonly<Record<string, string>>, asked: Asked) {
    this.#environment = environment;
    this.#asked = asked;
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
    const operators = this.#operatorsFile(name);
    const port = await freePort();
    const child = fork(MAIN, [], {
      env: {
        PATH: process.env['PATH'],
        ...this.#environment,
        PORT: String(port),
        OPERATORS_FILE: operators.path,
      },
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

  /** By its prefix, a number is the one operator's at one replica, and the other's at the next that is started. */
  #operatorsFile(replica: string): OperatorsFile {
    const { operators, directory } = this.#asked;
    const entries = Array.from(operators, ([name, url], index) => ({
      name,
      prefixes: [index === this.#launched % operators.size ? 'default' : NO_NUMBERS],
      flow: '3-legged',
      authUrl: url,
      simSwapUrl: url,
      client: DEMO_ENTRY,
      headers: { [REPLICA_HEADER]: replica },
      // A reply that a busy machine holds up is no lost one.
      limits: { timeoutMs: GIVEN_UP_MS },
    }));
    return new OperatorsFile(entries, {
      directory: { url: directory, keepSeconds: 0, fallback: 'prefix' },
    });
  }
}

async function isAlive(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/livez`)).ok;
  } catch {
    return false;
  }
}
