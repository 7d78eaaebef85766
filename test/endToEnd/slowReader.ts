// Reads a long reply while the service drains, and prints what became of both as JSON. Run in a network
// namespace of its own: the loopback's frames of 64 KiB and its wide buffers would take all of the reply at once.
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Program } from '../program.ts';

/** A slow network, and less than a client waits for. */
const BYTES_A_PAUSE = 4096;
const PAUSE_MS = 10;

const readsOn = process.argv[2] === 'slowly';
await using main = Program.node(['src/main.ts'], {
  PORT: '0',
  DRAIN_GRACE_MS: '0',
  REQUEST_TIMEOUT_MS: '4000',
});
const [service = ''] = await main.written(/http:\/\/127\.0\.0\.1:\d+(?=\/graphql)/);
await main.written(/"msg":"ready"/);

const socket = connect(Number(new URL(service).port), '127.0.0.1');
const closed = new Promise<void>((resolve) => {
  socket.once('close', () => resolve()).on('error', () => undefined);
});
socket.write(longOperation());
const head = await firstBytes(socket);
main.signal('SIGTERM');
await main.written(/"msg":"draining"/);

let received = head.length;
if (readsOn) {
  socket.on('data', (chunk: Buffer) => (received += chunk.length));
  while (!socket.readableEnded && !socket.destroyed) {
    await Promise.race([sleep(PAUSE_MS), closed]);
    socket.read(BYTES_A_PAUSE);
  }
}
const exit = await main.exit;
socket.resume();
await closed;
const reply = head.toString('latin1');
const bodyBytes = Number(/^content-length: (\d+)/im.exec(reply)?.[1]);
const cutOff = main.lines.find((line) => line.includes('the drain cut off requests'));
process.stdout.write(
  JSON.stringify({
    isWhole: received === reply.indexOf('\r\n\r\n') + 4 + bodyBytes,
    exit,
    cutOff: cutOff === undefined ? 0 : (JSON.parse(cutOff) as { requests: number }).requests,
  }),
);

/** Some 170,000 bytes, by names that are long. */
function longOperation(): string {
  const long = 'x'.repeat(160);
  const windows = Array.from(
    { length: 10 },
    (_, index) => `window${index}${long}: simSwappedWithin(maxAgeHours: ${index + 1})`,
  );
  const numbers = Array.from({ length: 100 }, (_, index) => `+447700900${500 + index}`);
  const body = JSON.stringify({
    query: `query ($e164s: [ID!]!) { phoneNumbers(e164s: $e164s) { ${windows.join(' ')} } }`,
    variables: { e164s: numbers },
  });
  return [
    'POST /graphql HTTP/1.1',
    'host: localhost',
    'content-type: application/json',
    `content-length: ${body.length}`,
    '',
    body,
  ].join('\r\n');
}

async function firstBytes(from: Socket): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<Buffer>();
  from.once('data', (chunk: Buffer) => {
    from.pause();
    resolve(chunk);
  });
  return await promise;
}
