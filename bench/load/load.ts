import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { answer } from '../processes/conversation.ts';
import type { LoadOrder, LoadResult } from './order.ts';

// The clients: each sends a query of its own over and over, and every answer is held against the first.

const pools = new Map<string, Pool>();

answer({ run, besides, stop });

async function run(order: LoadOrder): Promise<LoadResult> {
  const latenciesMs: number[] = [];
  let first: string | undefined;
  let left = order.requests;
  const client = async (body: string, index: number): Promise<void> => {
    const url = order.urls[index % order.urls.length] ?? '';
    while (left > 0) {
      left -= 1;
      const startedMs = performance.now();
      const text = comparable(await ask(url, body, order.headers));
      latenciesMs.push(performance.now() - startedMs);
      first ??= text;
      if (text !== first)
        throw new Error(`two answers to queries alike: ${sample(first)} ${sample(text)}`);
      if (order.pauseMs > 0) await sleep(order.pauseMs);
    }
  };
  await Promise.all(order.bodies.map(client));
  return { latenciesMs, answer: first ?? '' };
}

/** Clients of another kind, whose answers count for nothing: until {@link stop}. */
let beside: AbortController | undefined;

function besides(order: Omit<LoadOrder, 'requests'>): void {
  const { signal } = (beside = new AbortController());
  const client = async (body: string, index: number): Promise<void> => {
    const url = order.urls[index % order.urls.length] ?? '';
    while (!signal.aborted) {
      await ask(url, body, order.headers).catch(() => undefined);
      await sleep(order.pauseMs);
    }
  };
  order.bodies.forEach((body, index) => void client(body, index));
}

function stop(): void {
  beside?.abort();
}

async function ask(url: string, body: string, headers: LoadOrder['headers']): Promise<string> {
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

/** Without what differs from one answer to the next: the caller's quotas, correlators and the order of errors. */
function comparable(text: string): string {
  const plain = text
    .replace(/,"extensions":\{"quotas":\[[^\]]*\]\}/, '')
    .replaceAll(/"correlator":"[^"]*"/g, '"correlator":""');
  if (!plain.startsWith('{"errors"')) return plain;
  const { errors, ...rest } = JSON.parse(plain) as { errors: unknown[] };
  const sorted = errors.map((error) => JSON.stringify(error)).toSorted();
  return JSON.stringify({ errors: sorted.map((error) => JSON.parse(error) as unknown), ...rest });
}

function sample(text: string): string {
  return text.slice(0, 200);
}
