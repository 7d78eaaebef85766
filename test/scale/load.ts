import { Pool } from 'undici';

/** The outcome of a request: `answered`, or the first code. */
export type Told = string;

/** One request: who asks what about which number. */
export interface Asked {
  readonly token: string;
  readonly number: string;
  readonly field: string;
}

/** Sends requests to processes, as a load balancer does: to each in turn. */
export class Load {
  readonly #pools: readonly Pool[];
  #sent = 0;

  constructor(urls: readonly string[], connections: number) {
    this.#pools = urls.map((url) => new Pool(url, { connections, bodyTimeout: 60_000 }));
  }

  /** The next process's answer. */
  async ask({ token, number, field }: Asked): Promise<Told> {
    this.#sent += 1;
    const pool = this.#pools[this.#sent % this.#pools.length];
    if (pool === undefined) throw new Error('There is no such process.');
    const { body } = await pool.request({
      path: '/graphql',
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ query: `{ phoneNumber(e164: "${number}") { ${field} } }` }),
    });
    const reply = (await body.json()) as {
      readonly errors?: readonly { readonly extensions?: { readonly code?: string } }[];
    };
    return reply.errors === undefined ? 'answered' : (reply.errors[0]?.extensions?.code ?? '?');
  }

  async close(): Promise<void> {
    await Promise.all(this.#pools.map((pool) => pool.destroy()));
  }
}

/** The result of a timed stretch. */
export interface Timed {
  readonly seconds: number;
  readonly told: ReadonlyMap<Told, number>;
  /** Sorted, in milliseconds. */
  readonly latencies: readonly number[];
}

/** Keeps so many requests in flight until the time is over. */
export async function keepAsking(
  atOnce: number,
  seconds: number,
  ask: () => Promise<Told>,
): Promise<Timed> {
  const startedAtMs = performance.now();
  const endsAtMs = startedAtMs + seconds * 1000;
  const told = new Map<Told, number>();
  const latencies: number[] = [];
  const worker = async (): Promise<void> => {
    while (performance.now() < endsAtMs) {
      const sentAtMs = performance.now();
      const heard = await ask();
      latencies.push(performance.now() - sentAtMs);
      told.set(heard, (told.get(heard) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return {
    seconds: (performance.now() - startedAtMs) / 1000,
    told,
    latencies: latencies.toSorted((a, b) => a - b),
  };
}
