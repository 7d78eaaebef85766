import { setTimeout as sleep } from 'node:timers/promises';
import type { Attack } from '../attack.ts';
import { PAGE } from '../target.ts';
import { number, times } from '../values.ts';

const CLIENTS = 60;
/** More replies than the kernel's buffers hold. */
const PIPELINED = 40;
const REQUEST_TIMEOUT_MS = 2000;
/** A request's time, a write's time, and what a loaded machine takes. */
const CUT_WITHIN_MS = 25_000;
const MEGABYTE = 1024 * 1024;
/** Resident, with the garbage that is not collected yet: 128 MiB of replies are held at most. */
const MAX_GROWTH_MB = 400;
const MAX_STAY_MB = 64;

const QUERY = `{ phoneNumbers(e164s: [${times(100, (index) => `"${number(index)}"`, ',')}]) { ${times(30, (index) => `a${index}${'x'.repeat(300)}: e164`)} } }`;

export const slowReaders: Attack = {
  name: 'slow-readers',
  tries: `to keep ${CLIENTS} connections and all their replies by asking and not reading`,
  holds: 'they are cut, their memory is given back, others are served meanwhile',
  async run(stage) {
    const target = await stage.serve(await stage.operator({}), {
      REQUEST_TIMEOUT_MS: String(REQUEST_TIMEOUT_MS),
    });
    await target.ask(QUERY);
    await (
      await fetch(`${target.url}/graphql`, { headers: { accept: 'text/html' } })
    ).arrayBuffer();
    const before = await target.figures();
    const descriptorsBefore = await target.fileDescriptors();
    const sockets = target.stalled(CLIENTS, (index) =>
      (index % 2 === 0 ? postOf(QUERY) : PAGE).repeat(PIPELINED),
    );
    await sleep(REQUEST_TIMEOUT_MS);
    stage.equals('served meanwhile', await target.statusOf('/livez'), 200);
    const givesUpAtMs = performance.now() + CUT_WITHIN_MS;
    const open = await target.fileDescriptorsAtMost(descriptorsBefore + 4, CUT_WITHIN_MS);
    stage.atMost('connections that stay', open - descriptorsBefore, 4);
    // What was read before the cut is still executed.
    let grown = await target.grownMb(before);
    while (grown > MAX_STAY_MB && performance.now() < givesUpAtMs) {
      await sleep(250);
      grown = await target.grownMb(before);
    }
    stage.atMost('MB that stay', grown, MAX_STAY_MB);
    stage.atMost('MB at most', (await target.resident()).peakBytes / MEGABYTE, 300 + MAX_GROWTH_MB);
    for (const socket of sockets) socket.destroy();
  },
};

function postOf(query: string): string {
  const body = JSON.stringify({ query });
  return `POST /graphql HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}
