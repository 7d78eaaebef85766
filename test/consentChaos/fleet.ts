import { DEMO_ENTRY, OperatorsFile } from '../support/operatorsFile.ts';
import { Program } from '../support/program.ts';
import type { Random } from '../support/random.ts';

/**
 * OPERATOR_TIMEOUT_MS. The service counts from sending and the operator from receiving: so much earlier it may prompt.
 */
export const GIVEN_UP_MS = 2000;

/** The header that names the replica to operators. */
export const REPLICA_HEADER = 'x-replica';

/** A prefix that none of the numbers has. */
const NO_NUMBERS = '+1';

/** What replicas call. */
interface Asked {
  /** The addresses of two operators, by their names. */
  readonly operators: ReadonlyMap<string, string>;
  /** The address of the directory that names one of them for a number. */
  readonly directory: string;
  /** The operator that binds its tokens to the key of a process (RFC 9449), if one does. */
  readonly binding: string | undefined;
}

interface Replica {
  readonly name: string;
  readonly url: string;
  readonly program: Program;
}

/** Replicas of the service, each of which may be killed at any time. */
export class Fleet {
  kills = 0;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #asked: Asked;
  readonly #flags: readonly string[];
  readonly #replicas: Replica[] = [];
  /** Those of the replicas, and those that start just now. */
  readonly #programs = new Set<Program>();
  #launched = 0;

  /** @param flags of Node */
  constructor(
    environment: Readonly<Record<string, string>>,
    asked: Asked,
    flags: readonly string[],
  ) {
    this.#environment = environment;
    this.#asked = asked;
    this.#flags = flags;
  }

  async start(size: number): Promise<void> {
    this.#replicas.push(...(await Promise.all(Array.from({ length: size }, () => this.#launch()))));
  }

  /** The address of any one of them. */
  anyUrl(random: Random): string {
    return this.#replicas[random.below(this.#replicas.length)]?.url ?? '';
  }

  /**
   * Kills one as a failing machine does, and starts another. Until then requests go to the others, as behind a load
   * balancer.
   */
  async killOne(random: Random, onKill: (name: string) => void): Promise<void> {
    const index = random.below(this.#replicas.length);
    const [replica] = this.#replicas.splice(index, 1);
    if (replica === undefined) return;
    onKill(replica.name);
    replica.program.signal('SIGKILL');
    this.#programs.delete(replica.program);
    this.kills += 1;
    this.#replicas.push(await this.#launch());
  }

  stop(): void {
    for (const program of this.#programs) program.signal('SIGKILL');
  }

  async #launch(): Promise<Replica> {
    this.#launched += 1;
    const name = `replica-${this.#launched}`;
    const { path: OPERATORS_FILE } = this.#operatorsFile(name);
    const settings = { ...this.#environment, PORT: '0', OPERATORS_FILE };
    const program = Program.node([...this.#flags, 'src/main.ts'], settings);
    this.#programs.add(program);
    return { name, url: await program.serves(), program };
  }

  /** The default operator alternates from one replica to the next. */
  #operatorsFile(replica: string): OperatorsFile {
    const { operators, directory, binding } = this.#asked;
    const entries = Array.from(operators, ([name, url], index) => ({
      name,
      prefixes: [index === this.#launched % operators.size ? 'default' : NO_NUMBERS],
      flow: '3-legged',
      authUrl: url,
      simSwapUrl: url,
      client: DEMO_ENTRY,
      tokens: { dpop: name === binding },
      headers: { [REPLICA_HEADER]: replica },
      // A reply that a busy machine delays is not lost.
      limits: { timeoutMs: GIVEN_UP_MS },
    }));
    return new OperatorsFile(entries, {
      directory: { url: directory, keepSeconds: 0, fallback: 'prefix' },
    });
  }
}
