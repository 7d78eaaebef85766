import { Pool } from 'undici';
import { answer } from '../processes/conversation.ts';
import type { LoadOrder, LoadResult } from './order.ts';

// The clients: sends one query over and over, so many at a time, and holds every answer against the first.

const pools = new Map<string, Pool>();

answer({ run });

async function run(order: LoadOrder): Promise<LoadResult> {
  const latenciesMs: number[] = [];
  let first: string | undefined;
  let left = order.requests;
  const client = async (index: number): Promise<void> => {
    const url = order.urls[index % order.urls.length] ?? '';
    while (left > 0) {
      left -= 1;
      const startedMs = performance.now();
      const text = withoutQuotas(await ask(url, order));
      latenciesMs.push(performance.now() - startedMs);
      first ??= text;
      if (text !== first)
        throw new Error(`two answers to one query: ${sample(first)} ${sample(text)}`);
    }
  };
  await Promise.all(Array.from({ length: order.concurrency }, (_, index) => client(index)));
  return { latenciesMs, answer: first ?? '' };
}

async function ask(url: string, { body, headers }: LoadOrder): Promise<string> {
  let pool = pools.get(url);
  if (pool === undefined) {
    pool = new Pool(url, { connections: 128 });
    pools.set(url, pool);
  }
  const reply = await pool.request({
    path: '/graphql',
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
  const text = await reply.body.text();
  if (reply.statusCode !== 200) throw new Error(`HTTP ${reply.statusCode}: ${sample(text)}`);
  return text;
}

/** What is left of the caller's quotas is another figure in each answer. */
function withoutQuotas(text: string): string {
  return text.replace(/,"extensions":\{"quotas":\[[^\]]*\]\}/, '');
}

function sample(text: string): string {
  return text.slice(0, 200);
}
