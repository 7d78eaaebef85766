import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('replica.ts', import.meta.url));

/** Some replicas, of which each can die at any time. */
export class Fleet {
  kills = 0;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #replicas: { child: ChildProcess; port: number }[] = [];

  constructor(environment: Readonly<Record<string, string>>) {
    this.#environment = environment;
  }

  async start(size: number): Promise<void> {
    this.#replicas.push(...(await Promise.all(Array.from({ length: size }, () => this.#launch()))));
  }

  /** The address of any one of them. */
  anyUrl(): string {
    const replica = this.#replicas[Math.floor(Math.random() * this.#replicas.length)];
    return `http://127.0.0.1:${replica?.port ?? 0}`;
  }

  /** Kills one as a failing machine does, and puts another in its place. */
  async killOne(): Promise<void> {
    const index = Math.floor(Math.random() * this.#replicas.length);
    this.#replicas[index]?.child.kill('SIGKILL');
    this.kills += 1;
    this.#replicas[index] = await this.#launch();
  }

  stop(): void {
    for (const { child } of this.#replicas) child.kill('SIGKILL');
  }

  async #launch(): Promise<{ child: ChildProcess; port: number }> {
    const child = fork(PROGRAM, [], { env: { ...process.env, ...this.#environment } });
    const [port] = await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(() => {
        throw new Error('A replica ended before it listened.');
      }),
    ]);
    return { child, port: Number(port) };
  }
}
