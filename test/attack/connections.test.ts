import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { attack, isAtMost, isEqual, MAX_RESIDENT_MB } from './stage.ts';
import { PAGE } from './target.ts';
import { number, times, within } from './values.ts';

const MEGABYTE = 1024 * 1024;
/** The service's limit for headers, or for a request and a write, and time for a loaded machine. */
const CUT_WITHIN_MS = 25_000;
const CONNECTIONS = 400;

const BEGINNINGS = [
  '',
  'POST /graphql HTTP/1.1\r\nhost: 127.0.0.1\r\nx-slow: ',
  'GET /graphql?query=',
  'POST /graphql HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n1\r\n',
];

/** Tries to hold connections by requests that never end. */
attack('slow-senders', async (stage) => {
  const target = await stage.serve(await stage.operator());
  await target.ask(within(number(4)));
  const before = await target.fileDescriptors();
  const sockets = target.stalled(
    CONNECTIONS,
    (index) => BEGINNINGS[index % BEGINNINGS.length] ?? '',
  );
  for (const socket of sockets) socket.resume();
  await sleep(500);
  const reply = await target.ask(within(number(5)));
  isEqual('answered meanwhile', reply.answer, false);
  // A quarter have sent their headers: bodies have a longer limit.
  const stay = CONNECTIONS / BEGINNINGS.length + 8;
  const open = await target.fileDescriptorsAtMost(before + stay, CUT_WITHIN_MS);
  isAtMost('connections that stay', open - before, stay);
  for (const socket of sockets) socket.destroy();
});

/** More than the process keeps without a request. */
const HEADS = 9000;
const HEAD = `POST /graphql HTTP/1.1\r\nhost: 127.0.0.1\r\nx-slow: ${'x'.repeat(15_000)}`;
/** Of the container, 150 are taken at rest and the heap may grow by some 200. */
const MAX_HEADS_MB = 110;

/** Tries to fill the memory outside the heap with headers that never end, without a token. */
attack('slow-heads', async (stage) => {
  const target = await stage.serve(await stage.operator());
  await target.ask(within(number(0)));
  const { nowBytes } = await target.resident();
  const before = await target.fileDescriptors();
  const sockets: Socket[] = [];
  while (sockets.length < HEADS) {
    const more = target.stalled(100, () => HEAD);
    await Promise.all(more.map((socket) => once(socket, 'connect')));
    sockets.push(...more);
  }
  const reply = await target.ask(within(number(0)));
  isEqual('answered meanwhile', reply.answer, false);
  isAtMost('connections', (await target.fileDescriptors()) - before, 4096);
  const { peakBytes } = await target.resident();
  isAtMost('MB more', (peakBytes - nowBytes) / MEGABYTE, MAX_HEADS_MB);
  for (const socket of sockets) socket.destroy();
});

const REFUSED = 9000;
const PIPELINES = 400;
const BEHIND = 40;

const TINY = 'GET / HTTP/1.1\r\nhost:a\r\n\r\n';
const LAST = TINY.replace('host:a', 'host:a\r\nconnection: close');
const TINIES = [TINY, TINY.replace('host:a\r\n', ''), TINY.replace('host:a', 'host:a\r\nexpect:x')];
const CHUNKED =
  'POST /graphql HTTP/1.1\r\nhost:127.0.0.1\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n';
const READ_BYTES = 64 * 1024;
const READS = [
  ...TINIES.map((tiny) => tiny.repeat(READ_BYTES / tiny.length)),
  CHUNKED + '1\r\nx\r\n'.repeat(READ_BYTES / 6),
];
/** Of the turn that as many honest requests take on this machine. */
const MAX_TURN = 10;

/** Tries to fill the heap with requests that are refused, or wait behind another one, and hold their headers. */
attack('refused-heads', async (stage) => {
  const { target } = await stage.callers();
  const sockets: Socket[] = [];
  while (sockets.length < REFUSED) {
    const more = target.stalled(100, () => `${HEAD}\r\ncontent-length: 1000\r\n\r\n`);
    await Promise.all(more.map((socket) => once(socket, 'connect')));
    sockets.push(...more);
  }
  isAtMost('MB at most', (await target.resident()).peakBytes / MEGABYTE, MAX_RESIDENT_MB);
  for (const socket of sockets) socket.destroy();
});

attack('pipelines', async (stage) => {
  const operator = await stage.operator();
  operator.script = { lookUp: () => undefined };
  const target = await stage.serve(operator);
  const behind = `${HEAD.replace('POST /graphql', 'GET /livez')}\r\n\r\n`.repeat(BEHIND);
  const slow = target.stalled(PIPELINES, () => postOf(within(number(0))) + behind);
  await Promise.all(slow.map(closed));
  // Node parses at once what it has read of a connection: thousands of requests or chunks of a few bytes.
  for (const isKept of [false, true]) {
    const turnOf = async (text: string): Promise<number> => {
      const sockets = target.stalled(PIPELINES, () => (isKept ? TINY : ''));
      const ready = isKept ? 'data' : 'connect';
      await Promise.all(sockets.map((socket) => once(socket.resume(), ready)));
      target.resetDelay();
      for (const socket of sockets) socket.write(text);
      await Promise.all(
        sockets.map((socket) => Promise.race([once(socket, 'data'), closed(socket)])),
      );
      const { ownTurnMs } = await target.figures();
      for (const socket of sockets) socket.destroy();
      return ownTurnMs;
    };
    const honestMs = await turnOf(LAST);
    for (const read of READS) {
      const turns = (await turnOf(read)) / honestMs;
      isAtMost(`honest turns${isKept ? ', kept' : ''}`, turns, MAX_TURN);
    }
  }
  isAtMost('MB at most', (await target.resident()).peakBytes / MEGABYTE, MAX_RESIDENT_MB);
});

/** A reset closes it too. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => void socket.resume().once('close', resolve));
}

const READERS = 60;
const NUMBERS = 1000;
const REQUEST_TIMEOUT_MS = 2000;
const MAX_STAY_MB = 64;

const QUERY = `{ phoneNumbers(e164s: [${times(NUMBERS, (index) => `"${number(index)}"`, ',')}]) { ${times(30, (index) => `a${index}${'x'.repeat(300)}: e164`)} } }`;

/** Tries to make the service hold replies that are not read. */
attack('slow-readers', async (stage) => {
  const settings = {
    REQUEST_TIMEOUT_MS: String(REQUEST_TIMEOUT_MS),
    // A reply of ten megabytes is more than the kernel's buffers hold.
    MAX_NUMBERS_PER_OPERATION: String(NUMBERS),
  };
  const target = await stage.serve(await stage.operator(), settings);
  await target.ask(QUERY);
  await (await fetch(`${target.url}/graphql`, { headers: { accept: 'text/html' } })).arrayBuffer();
  const before = await target.figures();
  const descriptorsBefore = await target.fileDescriptors();
  const sockets = target.stalled(READERS, (index) => (index % 4 === 0 ? PAGE : postOf(QUERY)));
  await sleep(REQUEST_TIMEOUT_MS);
  isEqual('served meanwhile', await target.statusOf('/livez'), 200);
  const givesUpAtMs = performance.now() + CUT_WITHIN_MS;
  const open = await target.fileDescriptorsAtMost(descriptorsBefore + 4, CUT_WITHIN_MS);
  isAtMost('connections that stay', open - descriptorsBefore, 4);
  // What was read before the cut is still executed.
  let grown = await target.grownMb(before);
  while (grown > MAX_STAY_MB && performance.now() < givesUpAtMs) {
    await sleep(250);
    grown = await target.grownMb(before);
  }
  isAtMost('MB that stay', grown, MAX_STAY_MB);
  isAtMost('MB at most', (await target.resident()).peakBytes / MEGABYTE, MAX_RESIDENT_MB);
  for (const socket of sockets) socket.destroy();
});

function postOf(query: string): string {
  const body = JSON.stringify({ query });
  return `POST /graphql HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

const CLIENTS = 150;
const MAX_BYTES = 64 * 1024;

/** Tries to get the explorer's 9 MB without a token, with clients that do not read. */
attack('explorer-exposed', async (stage) => {
  const { target: exposed } = await stage.callers({ HOST: '0.0.0.0' });
  const page = await fetch(`${exposed.url}/graphql`, { headers: { accept: 'text/html' } });
  isAtMost('bytes without a token', (await page.arrayBuffer()).byteLength, MAX_BYTES);
  const { nowBytes } = await exposed.resident();
  const sockets = exposed.stalled(CLIENTS, () => PAGE.repeat(3));
  await sleep(2500);
  const { peakBytes } = await exposed.resident();
  isAtMost('MB more', (peakBytes - nowBytes) / MEGABYTE, 300);
  isEqual('serves', await exposed.statusOf('/livez'), 200);
  for (const socket of sockets) socket.destroy();
});
