import { describe, expect, it } from 'vitest';
import { answerJson, RecordingServer } from './recordingServer.ts';
import { TestEndpoint } from './testEndpoint.ts';

const CANCELLED = { cause: 'cancelled', detail: 'the request ended' };

describe('a signal that is aborted', () => {
  it('before the exchange: nothing is sent', async () => {
    await using server = await RecordingServer.start((received, response) =>
      answerJson(received, response, {}),
    );
    await using client = new TestEndpoint(server.url);
    expect(await client.post({ signal: AbortSignal.abort() })).toEqual({
      kind: 'fault',
      fault: { ...CANCELLED, sent: false },
    });
    // The next exchange would need a second connection if one were on its way already.
    expect(await client.post()).toMatchObject({ reply: { status: 200 } });
    expect(server.connections).toHaveLength(1);
    expect(server.received).toHaveLength(1);
  });

  it('while connecting: nothing is sent, and the next exchange is none the worse', async () => {
    await using server = await RecordingServer.start((received, response) =>
      answerJson(received, response, {}),
    );
    await using client = new TestEndpoint(server.url);
    const controller = new AbortController();
    const exchange = client.post({ signal: controller.signal });
    controller.abort();
    expect(await exchange).toEqual({ kind: 'fault', fault: { ...CANCELLED, sent: false } });

    expect(await client.post()).toMatchObject({ reply: { status: 200 } });
    expect(server.received.map(({ correlator }) => correlator)).toEqual(['exchange-2']);
  });

  it('while it waits for the reply: the server sees the connection closed', async () => {
    const controller = new AbortController();
    await using server = await RecordingServer.start(() => controller.abort());
    await using client = new TestEndpoint(server.url);
    expect(await client.post({ signal: controller.signal })).toEqual({
      kind: 'fault',
      fault: { ...CANCELLED, sent: true },
    });
    await server.connections[0]?.closed;
    expect(server.received).toHaveLength(1);
  });

  it('amid the body: the server sees the connection closed', async () => {
    const halfRead = Promise.withResolvers<void>();
    await using server = await RecordingServer.start((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"swapped":', () => halfRead.resolve());
    });
    await using client = new TestEndpoint(server.url);
    const controller = new AbortController();
    const exchange = client.post({ signal: controller.signal });
    await halfRead.promise;
    controller.abort();
    expect(await exchange).toEqual({ kind: 'fault', fault: { ...CANCELLED, sent: true } });
    await server.connections[0]?.closed;
  });

  it('after the exchange: the reply is valid and the connection is kept', async () => {
    await using server = await RecordingServer.start((received, response) =>
      answerJson(received, response, {}),
    );
    await using client = new TestEndpoint(server.url, { echo: 'always' });
    const controller = new AbortController();
    const exchange = await client.post({ signal: controller.signal });
    controller.abort();
    expect(exchange).toMatchObject({ reply: { status: 200 } });
    // A turn of the event loop, in which undici takes the connection back.
    await new Promise((resolve) => setImmediate(resolve));
    await client.post();
    expect(server.connections).toHaveLength(1);
  });

  it('of one exchange does not touch the others', async () => {
    const controller = new AbortController();
    await using server = await RecordingServer.start((received, response) => {
      if (received.correlator === 'exchange-1') controller.abort();
      else answerJson(received, response, {});
    });
    await using client = new TestEndpoint(server.url);
    const exchanges = await Promise.all([
      client.post({ signal: controller.signal }),
      client.post({ signal: new AbortController().signal }),
    ]);
    expect(exchanges).toMatchObject([{ fault: CANCELLED }, { reply: { status: 200 } }]);
  });
});
