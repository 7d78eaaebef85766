import { setTimeout as sleep } from 'node:timers/promises';
import type { Attack } from '../attack.ts';
import { PAGE } from '../target.ts';

const CLIENTS = 150;
const MEGABYTE = 1024 * 1024;
const MAX_BYTES = 64 * 1024;

export const explorerExposed: Attack = {
  name: 'explorer-exposed',
  tries: `to be sent the explorer's 9 MB without a token, and to keep them by ${CLIENTS} clients that do not read`,
  holds: `no more than ${MAX_BYTES / 1024} KB without a token; resident memory does not grow by over 300 MB`,
  async run(stage) {
    const { target: exposed } = await stage.callers({ HOST: '0.0.0.0' });
    const page = await fetch(`${exposed.url}/graphql`, { headers: { accept: 'text/html' } });
    stage.atMost('bytes without a token', (await page.arrayBuffer()).byteLength, MAX_BYTES);
    const { nowBytes } = await exposed.resident();
    const sockets = exposed.stalled(CLIENTS, () => PAGE.repeat(3));
    await sleep(2500);
    const { peakBytes } = await exposed.resident();
    stage.atMost('MB more', (peakBytes - nowBytes) / MEGABYTE, 300);
    stage.equals('serves', await exposed.statusOf('/livez'), 200);
    for (const socket of sockets) socket.destroy();
  },
};
