import type { ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/system/clock.ts';
import { OtlpSender } from '../../src/telemetry/otlpSender.ts';
import { silentLog } from '../support/silentLog.ts';
import { accept, Collector } from './collector.ts';

const BATCH = Buffer.from('{}');

/** Pauses take no time, and are recorded. */
class Pauses implements Clock {
  readonly ms: number[] = [];
  readonly nowMs = (): number => systemClock.nowMs();
  readonly monotonicMs = (): number => systemClock.monotonicMs();
  readonly after: Clock['after'] = (ms, act) => systemClock.after(ms, act);

  sleep(ms: number): Promise<void> {
    this.ms.push(ms);
    return Promise.resolve();
  }
}

function senderTo(url: string, clock: Clock, timeoutMs = 10_000): OtlpSender {
  const protocol = 'http/json' as const;
  const settings = { url, connection: {}, protocol, headers: new Map(), timeoutMs };
  return new OtlpSender({ settings, clock, log: silentLog, random: () => 0.5 });
}

it.each([429, 502, 503, 504])('sends again what is answered with %d', async (status) => {
  const pauses = new Pauses();
  await using collector = await Collector.start((response, count) => {
    if (count < 4) response.writeHead(status).end();
    else accept(response);
  });
  const sender = senderTo(`${collector.url}/v1/traces`, pauses);
  expect(await sender.send(BATCH)).toBe(undefined);
  expect(pauses.ms).toEqual([1000, 1500, 2250]);
  await sender.close();
});

it.each([301, 400, 401, 404, 500])('drops what is answered with %d', async (status) => {
  await using collector = await Collector.start((response) => response.writeHead(status).end());
  const sender = senderTo(`${collector.url}/v1/traces`, new Pauses());
  expect(await sender.send(BATCH)).toBe(String(status));
  expect(collector.received).toHaveLength(1);
  await sender.close();
});

it('drops a batch at its time limit', async () => {
  await using collector = await Collector.start(() => undefined);
  const sender = senderTo(`${collector.url}/v1/traces`, systemClock, 50);
  expect(await sender.send(BATCH)).toBe('timeout');
  await sender.close();
});

it.each<readonly [string, (response: ServerResponse) => void]>([
  ['an answer', () => undefined],
  ['the rest of an answer', (response) => response.writeHead(503).write('{')],
  ['the next attempt', (response) => response.writeHead(503).end()],
])('closes at once while it waits for %s', async (_what, answer) => {
  await using collector = await Collector.start(answer);
  const sender = senderTo(`${collector.url}/v1/traces`, systemClock);
  const sending = sender.send(BATCH);
  await expect.poll(() => collector.received.length).toBe(1);
  await sender.close();
  expect(await sending).toEqual(expect.any(String));
});
