import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { Authority } from '../tls/authority.ts';
import { TemporaryFiles } from '../support/temporary.ts';
import { answerJson } from '../wire/recordingServer.ts';
import { startService } from '../support/service.ts';
import { pend, WiredOperator } from '../support/wiredOperator.ts';

const INTERVAL_MS = 1000;
/** A lost packet of a handshake is sent again after a second. */
const HANDSHAKE_MS = 900;
/** Timers, and a machine that has other things to do. */
const LEEWAY_MS = 60;

/** A way to a server on which the first bytes of the connection of this number are held back; the count is from 1. */
async function slowWay(port: number, isSlow: (connection: number) => boolean): Promise<number> {
  let connections = 0;
  const way = createServer((socket) => {
    connections += 1;
    const isHeldBack = isSlow(connections);
    const onward = connect(port, '127.0.0.1');
    for (const one of [socket, onward]) one.on('error', () => undefined);
    socket.once('close', () => onward.destroy());
    onward.once('close', () => socket.destroy());
    onward.pipe(socket);
    void sleep(isHeldBack ? HANDSHAKE_MS : 0).then(() => socket.pipe(onward));
  });
  way.listen(0, '127.0.0.1');
  await once(way, 'listening');
  onTestFinished(() => void way.close());
  return (way.address() as AddressInfo).port;
}

test('polls arrive an interval apart, also after a first one whose handshake took long', async () => {
  const authority = new Authority('An operator');
  const files = new TemporaryFiles();
  const polledAtMs: number[] = [];
  await using operator = await WiredOperator.start(
    {
      authorize: (received, response) =>
        answerJson(received, response, { auth_req_id: 'one', expires_in: 60, interval: 1 }),
      token: (received, response) => {
        polledAtMs.push(performance.now());
        pend(received, response);
      },
    },
    authority.issue(),
  );
  // The first connection is for the prompt.
  const port = await slowWay(Number(new URL(operator.url).port), (connection) => connection === 2);
  await using service = await startService(`https://127.0.0.1:${port}`, {
    OPERATOR_FLOW: '3-legged',
    OPERATOR_TLS_CA_FILE: files.write('ca.pem', authority.pem),
    CONSENT_WAIT_MS: '5000',
  });
  await service.ask('{ phoneNumber(e164: "+447700900500") { simSwappedWithin } }');
  expect(polledAtMs.length).toBeGreaterThanOrEqual(3);
  const pausesMs = polledAtMs.slice(1).map((atMs, index) => atMs - (polledAtMs[index] ?? 0));
  expect(Math.min(...pausesMs)).toBeGreaterThan(INTERVAL_MS - LEEWAY_MS);
});
