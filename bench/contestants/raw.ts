import { Pool, type Dispatcher } from 'undici';
import { compete, operatorAddress } from '../processes/contestant.ts';
import type { RawOrder, RawResult } from './rawOrder.ts';
import { CLIENT_AUTHORIZATION, tokenForm } from './schema.ts';

// The limit: undici's dispatch makes the same exchanges, with nothing around them. It reads each reply's
// JSON, and asks nobody whether it may be believed.

const { authUrl, simSwapUrl } = operatorAddress();
/** As many at a time as ours: more slow everybody down. */
const PERMITS = 256;

const tokenPool = new Pool(authUrl, { connections: PERMITS });
const lookupPool = new Pool(new URL(simSwapUrl).origin, { connections: PERMITS });
const prefix = crypto.randomUUID().slice(0, 12);
let sent = 0;

compete({ run });

async function run(order: RawOrder): Promise<RawResult> {
  const latenciesMs: number[] = [];
  let left = order.batches;
  const client = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const startedMs = performance.now();
      await batch(order);
      latenciesMs.push(performance.now() - startedMs);
    }
  };
  await Promise.all(Array.from({ length: order.concurrency }, client));
  return { latenciesMs };
}

/** So many permits, and so no more under way: as a limiter without a queue of its own. */
async function batch({ numbers, operation, lookups }: RawOrder): Promise<void> {
  const work = numbers.flatMap((number) => Array.from({ length: lookups }, () => number));
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < work.length; index = next++) {
      await pair(work[index] ?? '', operation);
    }
  };
  await Promise.all(Array.from({ length: Math.min(PERMITS, work.length) }, worker));
}

async function pair(number: string, operation: RawOrder['operation']): Promise<void> {
  const token = await post(tokenPool, '/oauth/v1/token', tokenForm(number, operation), [
    'content-type',
    'application/x-www-form-urlencoded',
    'accept',
    'application/json',
    'x-correlator',
    `${prefix}-${++sent}`,
    'authorization',
    CLIENT_AUTHORIZATION,
  ]);
  const isCheck = operation === 'check';
  const body = JSON.stringify(
    isCheck ? { phoneNumber: number, maxAge: 240 } : { phoneNumber: number },
  );
  const answer = await post(lookupPool, `/sim-swap/v1/${operation}`, body, [
    'content-type',
    'application/json',
    'accept',
    'application/json',
    'x-correlator',
    `${prefix}-${++sent}`,
    'authorization',
    `Bearer ${String(token['access_token'])}`,
  ]);
  if (answer[isCheck ? 'swapped' : 'latestSimChange'] === undefined) throw new Error('no answer');
}

function post(
  pool: Pool,
  path: string,
  body: string,
  headers: string[],
): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    pool.dispatch({ path, method: 'POST', headers, body }, new Reader(resolve, reject));
  });
}

class Reader implements Dispatcher.DispatchHandler {
  readonly #resolve: (body: Record<string, unknown>) => void;
  readonly #reject: (error: Error) => void;
  #status = 0;
  readonly #chunks: Buffer[] = [];

  constructor(resolve: (body: Record<string, unknown>) => void, reject: (error: Error) => void) {
    this.#resolve = resolve;
    this.#reject = reject;
  }

  onRequestStart(): void {}

  onResponseStart(_controller: unknown, status: number): void {
    this.#status = status;
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    if (this.#status !== 200) this.#reject(new Error(`HTTP ${this.#status}`));
    else
      this.#resolve(JSON.parse(Buffer.concat(this.#chunks).toString()) as Record<string, unknown>);
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#reject(error);
  }
}
