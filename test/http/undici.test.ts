import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Pool } from 'undici';
import { expect, it } from 'vitest';
import { answerJson, RecordingServer } from './recordingServer.ts';

const SENDS_HEADERS = 'undici:client:sendHeaders';

it('undici writes the head in the turn in which it calls onRequestStart, and never without it', async () => {
  await using server = await RecordingServer.start((received, response) => {
    answerJson(received, response, {});
  });
  const turns: string[] = [];
  const onSendHeaders = (): void => {
    turns.push('head');
  };
  subscribe(SENDS_HEADERS, onSendHeaders);
  const pool = new Pool(server.url, { connections: 2, pipelining: 1 });
  try {
    const dispatch = (): Promise<void> =>
      new Promise((resolve, reject) => {
        pool.dispatch(
          { path: '/', method: 'POST', body: '{}' },
          {
            onRequestStart: () => {
              turns.push('start');
              queueMicrotask(() => turns.push('next turn'));
            },
            onResponseStart: () => undefined,
            onResponseData: () => undefined,
            onResponseEnd: () => resolve(),
            onResponseError: (_controller, error) => reject(error),
          },
        );
      });
    // Five exchanges over two connections: fresh ones and ones that are used again.
    await Promise.all([dispatch(), dispatch(), dispatch(), dispatch(), dispatch()]);
  } finally {
    unsubscribe(SENDS_HEADERS, onSendHeaders);
    await pool.destroy();
  }
  const bySelf = turns.filter((turn) => turn !== 'next turn');
  expect(bySelf).toEqual(Array.from({ length: 5 }, () => ['start', 'head']).flat());
  expect(turns.join()).not.toContain('start,next turn');
});
