import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { MAX_CONNECTION_AGE_MS } from '../../src/wire/http1Connections.ts';
import type { EchoSetting } from '../../src/wire/echo.ts';
import type { Exchange } from '../../src/wire/exchange.ts';
import { settled, TestClock } from '../support/testClock.ts';
import { RecordingServer, type Received } from './recordingServer.ts';
import { outcome, TestEndpoint } from './testEndpoint.ts';

/** The correlator of a reply, and its status; 200 where absent. */
type Told = readonly [echo: 'own' | 'none' | 'another' | 'empty', status?: number];

const OWN: Told = ['own'];
const NONE: Told = ['none'];
const ANOTHER: Told = ['another'];

/** An operator that echoes like this in each exchange; the last one repeats. */
function echoing(...told: readonly Told[]) {
  let count = 0;
  return ({ correlator }: Received, response: ServerResponse): void => {
    const [echo, status = 200] = told[Math.min(count, told.length - 1)] ?? OWN;
    count += 1;
    const echoes = { own: correlator, none: undefined, another: 'else', empty: '' };
    const echoed = echoes[echo];
    response.writeHead(status, {
      'content-type': 'application/json',
      ...(echoed === undefined ? {} : { 'x-correlator': echoed }),
    });
    response.end(`{"for":"${correlator}"}`);
  };
}

/** Exchanges in sequence, each after undici has taken the connection back. */
async function postInTurn(client: TestEndpoint, times: number): Promise<Exchange[]> {
  const exchanges: Exchange[] = [];
  for (let time = 0; time < times; time += 1) {
    exchanges.push(await client.post());
    await settled();
  }
  return exchanges;
}

const NEVER_OURS = 'another correlator, and ours was never echoed';

describe('connections', () => {
  const FRESH = 'close';
  const KEPT = 'keep-alive';

  it.each<[EchoSetting, string, readonly Told[], string[]]>([
    ['auto', 'never echoes', [NONE], [FRESH, FRESH, FRESH, FRESH]],
    ['auto', 'echoes', [OWN], [FRESH, KEPT, KEPT, KEPT]],
    ['auto', 'echoes from the second exchange', [NONE, OWN], [FRESH, FRESH, KEPT, KEPT]],
    ['auto', 'echoes on errors', [['own', 404]], [FRESH, KEPT, KEPT, KEPT]],
    ['always', 'echoes', [OWN], [KEPT, KEPT, KEPT, KEPT]],
    ['never', 'echoes', [OWN], [FRESH, FRESH, FRESH, FRESH]],
    ['never', 'never echoes', [NONE], [FRESH, FRESH, FRESH, FRESH]],
  ])('%s, and the operator %s', async (echo, _, told, asked) => {
    await using server = await RecordingServer.start(echoing(...told));
    await using client = new TestEndpoint(server.url, { echo });
    await postInTurn(client, 4);
    expect(server.received.map(({ headers }) => headers.connection)).toEqual(asked);

    const fresh = server.received.filter(({ headers }) => headers.connection === FRESH);
    const single = fresh.filter(
      ({ connection }) =>
        server.received.filter((other) => other.connection === connection).length === 1,
    );
    expect(single, 'fresh connections with one exchange').toHaveLength(fresh.length);
  });

  it('that are kept are closed when they are old, after the exchange under way', async () => {
    let answerHeld: (() => void) | undefined;
    await using server = await RecordingServer.start((received, response) => {
      const answer = (): void => echoing(OWN)(received, response);
      if (received.correlator === 'held') answerHeld = answer;
      else answer();
    });
    const clock = new TestClock();
    await using client = new TestEndpoint(server.url, { echo: 'always', clock });
    await postInTurn(client, 2);
    const held = client.post({ correlator: 'held' });
    await expect.poll(() => answerHeld).toBeDefined();
    await clock.advance(MAX_CONNECTION_AGE_MS);
    await postInTurn(client, 2);
    expect(server.connections).toHaveLength(2);
    answerHeld?.();
    expect(outcome(await held)).toBe('200');
    await server.connections[0]?.closed;
  });
});

describe('a reply', () => {
  const MISSING = 'no correlator, sent';
  const OTHER = 'another correlator, sent';
  const OTHER_ONLY = `${NEVER_OURS}, sent`;
  const NONE_EVER = 'no correlator, and ours was never echoed, sent';

  it.each<[EchoSetting, string, readonly Told[], outcomes: string[]]>([
    ['auto', 'without a correlator, before any echo', [NONE], ['200', '200']],
    ['auto', 'without a correlator, after an echo', [OWN, NONE], ['200', MISSING]],
    ['auto', 'of a gateway without a correlator: 502', [OWN, ['none', 502]], ['200', 'unproven']],
    ['auto', 'without a correlator: 201', [OWN, ['none', 201]], ['200', MISSING]],
    ['auto', 'with another one, and an error', [['another', 500]], [OTHER_ONLY, OTHER_ONLY]],
    ['auto', 'without one on a fresh connection: 403', [['none', 403]], ['403', '403']],
    ['auto', 'with another one, before any echo', [ANOTHER], [OTHER_ONLY, OTHER_ONLY]],
    ['auto', 'with another one, after an echo', [OWN, ANOTHER], ['200', OTHER]],
    ['auto', 'with an empty one', [['empty']], [OTHER_ONLY, OTHER_ONLY]],
    ['always', 'without a correlator', [NONE], [NONE_EVER, NONE_EVER]],
    ['always', 'without a correlator: 503', [['none', 503]], ['unproven', 'unproven']],
    ['always', 'with another one', [ANOTHER], [OTHER_ONLY, OTHER_ONLY]],
    ['never', 'without a correlator', [NONE], ['200', '200']],
    ['never', 'without a correlator, after an echo', [OWN, NONE], ['200', '200']],
    ['never', 'with that of its gateway', [ANOTHER], ['200', '200']],
  ])('%s: %s', async (echo, _, told, outcomes) => {
    await using server = await RecordingServer.start(echoing(...told));
    await using client = new TestEndpoint(server.url, { echo });
    expect((await postInTurn(client, 2)).map(outcome)).toEqual(outcomes);
  });

  it('with its correlator twice is refused', async () => {
    await using server = await RecordingServer.start(({ correlator }, response) => {
      response.setHeader('x-correlator', [correlator, correlator]);
      response.end('{}');
    });
    await using client = new TestEndpoint(server.url);
    expect(outcome(await client.post())).toBe(OTHER_ONLY);
  });

  it('with another correlator is not read, and its connection is dropped', async () => {
    await using server = await RecordingServer.start((_, response) => {
      response.writeHead(200, { 'x-correlator': 'else', 'content-length': '1000' });
      response.write('{');
    });
    await using client = new TestEndpoint(server.url, { echo: 'always' });
    expect(await client.post()).toEqual({
      kind: 'fault',
      fault: {
        cause: 'invalid-reply',
        sent: true,
        detail: 'the reply may be that of another request',
        flaw: NEVER_OURS,
      },
    });
    await server.connections[0]?.closed;
  });
});

/** A late reply to an earlier question, as bytes. */
function stale(correlator?: string): string {
  const echo = correlator === undefined ? '' : `x-correlator: ${correlator}\r\n`;
  const head = 'content-type: application/json\r\ncontent-length: 17\r\n';
  return `HTTP/1.1 200 OK\r\n${head}${echo}\r\n{"swapped":false}`;
}

/** The reply to this request, as bytes. */
function own(correlator: string): string {
  const body = `{"for":"${correlator}"}`;
  return `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\nx-correlator: ${correlator}\r\n\r\n${body}`;
}

describe('a surplus reply on a kept connection', () => {
  it('after the first reply never answers the second exchange', async () => {
    await using server = await RecordingServer.start(({ correlator }, response) => {
      const surplus = correlator === 'exchange-1' ? stale(correlator) : '';
      response.socket?.write(own(correlator) + surplus);
    });
    await using client = new TestEndpoint(server.url, { echo: 'always' });
    const [first, second] = await postInTurn(client, 2);
    expect(first).toMatchObject({ reply: { body: '{"for":"exchange-1"}' } });
    expect(second).toMatchObject({ reply: { body: '{"for":"exchange-2"}' } });
    expect(server.connections).toHaveLength(2);
  });

  it('on an idle connection never answers the next exchange', async () => {
    await using server = await RecordingServer.start(({ correlator }, response) => {
      response.socket?.write(own(correlator));
    });
    await using client = new TestEndpoint(server.url, { echo: 'always' });
    await client.post();
    const [connection] = server.connections;
    connection?.socket.write(stale());
    await connection?.closed;
    expect(await client.post()).toMatchObject({ reply: { body: '{"for":"exchange-2"}' } });
    expect(server.connections).toHaveLength(2);
  });

  it.each<[string, string, string]>([
    ['with the correlator of the first', stale('exchange-1'), 'another correlator'],
    ['without a correlator', stale(), 'no correlator'],
  ])('%s is refused in place of the second reply', async (_, late, flaw) => {
    await using server = await RecordingServer.start(({ correlator }, response) => {
      if (correlator === 'exchange-2') {
        response.socket?.write(late);
        return;
      }
      response.setHeader('x-correlator', correlator);
      response.end(`{"for":"${correlator}"}`);
    });
    await using client = new TestEndpoint(server.url, { echo: 'always' });
    const [first, second, third] = await postInTurn(client, 3);
    expect(first).toMatchObject({ reply: { body: '{"for":"exchange-1"}' } });
    expect(second).toMatchObject({ fault: { cause: 'invalid-reply', flaw } });
    await server.connections[0]?.closed;
    expect(third).toMatchObject({ reply: { body: '{"for":"exchange-3"}' } });
    expect(server.connections).toHaveLength(2);
  });
});

describe('an endpoint that is distrusted', () => {
  it('takes fresh connections, and accepts errors on them, until it echoes', async () => {
    const told: Told[] = [OWN, ['none', 403], ['none', 403], OWN, OWN];
    await using server = await RecordingServer.start(echoing(...told));
    await using client = new TestEndpoint(server.url, { echo: 'always' });
    const outcomes = (await postInTurn(client, 2)).map(outcome);
    client.endpoint.distrust();
    outcomes.push(...(await postInTurn(client, 3)).map(outcome));

    expect(outcomes).toEqual(['200', 'unproven', '403', '200', '200']);
    const [first, second, third, fourth, fifth] = server.received.map(
      ({ connection }) => connection,
    );
    expect(second).toBe(first);
    expect(new Set([first, third, fourth]).size).toBe(3);
    expect(fifth).toBe(first);
  });
});
