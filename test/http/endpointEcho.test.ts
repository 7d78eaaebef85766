import type { ServerResponse } from 'node:http';
import { describe, expect, it, vi } from 'vitest';
import { MAX_CONNECTION_AGE_MS } from '../../src/http/connections/http1Connections.ts';
import type { EchoSetting } from '../../src/http/echo.ts';
import type { Exchange } from '../../src/http/exchange.ts';
import { settled, TestClock } from '../testClock.ts';
import { RecordingServer, type Received } from './recordingServer.ts';
import { TestEndpoint } from './testEndpoint.ts';

/** What the reply to each request in turn echoes: its own correlator, none, or another; and its status, 200 where absent. */
type Told = readonly [echo: 'own' | 'none' | 'another' | 'empty', status?: number];

const OWN: Told = ['own'];
const NONE: Told = ['none'];
const ANOTHER: Told = ['another'];

/** Plays an operator that echoes so, exchange by exchange, the last one for good. */
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

/** One exchange after the other, each once undici has taken the connection back. */
async function postInTurn(client: TestEndpoint, times: number): Promise<Exchange[]> {
  const exchanges: Exchange[] = [];
  for (let time = 0; time < times; time += 1) {
    exchanges.push(await client.post());
    await settled();
  }
  return exchanges;
}

/** In short: the status, or why there is no reply. */
function outcome(exchange: Exchange): number | string {
  if (exchange.kind === 'fault') return exchange.fault.flaw ?? exchange.fault.detail;
  return exchange.isUnproven === true ? `unproven ${exchange.reply.status}` : exchange.reply.status;
}

const MISSING = 'no correlator';
const ANOTHERS = 'another correlator';
const NEVER_OURS = 'another correlator, never ours';
const NEVER_ANY = 'no correlator, never ours';

describe('connections', () => {
  const FRESH = 'close';
  const KEPT = 'keep-alive';

  it.each<[EchoSetting, string, readonly Told[], string[]]>([
    ['auto', 'never echoes', [NONE], [FRESH, FRESH, FRESH, FRESH]],
    ['auto', 'echoes', [OWN], [FRESH, KEPT, KEPT, KEPT]],
    ['auto', 'echoes from the second exchange on', [NONE, OWN], [FRESH, FRESH, KEPT, KEPT]],
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
    const alone = fresh.filter(
      ({ connection }) =>
        server.received.filter((other) => other.connection === connection).length === 1,
    );
    expect(alone, 'fresh connections that carried one exchange').toHaveLength(fresh.length);
  });

  it('that are kept are closed once they are old, and not in the midst of an exchange', async () => {
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
    await vi.waitFor(() => expect(answerHeld).toBeDefined());
    await clock.advance(MAX_CONNECTION_AGE_MS);
    await postInTurn(client, 2);
    expect(server.connections).toHaveLength(2);
    answerHeld?.();
    expect(outcome(await held)).toBe(200);
    await server.connections[0]?.closed;
  });
});

describe('a reply', () => {
  it.each<[EchoSetting, string, readonly Told[], outcomes: (number | string)[]]>([
    ['auto', 'without a correlator, from one who never echoed', [NONE], [200, 200]],
    ['auto', 'without a correlator, from one who has echoed', [OWN, NONE], [200, MISSING]],
    ['auto', 'without one, of a gateway: 502', [OWN, ['none', 502]], [200, 'unproven 502']],
    ['auto', 'without one, 201', [OWN, ['none', 201]], [200, MISSING]],
    ['auto', "with another's, and an error", [['another', 500]], [NEVER_OURS, NEVER_OURS]],
    ['auto', 'without one, 403: its connection is fresh', [['none', 403]], [403, 403]],
    ['auto', "with another's, at first", [ANOTHER], [NEVER_OURS, NEVER_OURS]],
    ['auto', "with another's, later", [OWN, ANOTHER], [200, ANOTHERS]],
    ['auto', 'with an empty one', [['empty']], [NEVER_OURS, NEVER_OURS]],
    ['always', 'without a correlator', [NONE], [NEVER_ANY, NEVER_ANY]],
    ['always', 'without one: 503', [['none', 503]], ['unproven 503', 'unproven 503']],
    ['always', "with another's", [ANOTHER], [NEVER_OURS, NEVER_OURS]],
    ['never', 'without a correlator', [NONE], [200, 200]],
    ['never', 'without one, after one with it', [OWN, NONE], [200, 200]],
    ['never', "with its gateway's own", [ANOTHER], [200, 200]],
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
    expect(outcome(await client.post())).toBe(NEVER_OURS);
  });

  it("with another's is not read, and its connection is dropped", async () => {
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

/** A reply to an earlier question, as it stands on the wire. */
function stale(correlator?: string): string {
  const echo = correlator === undefined ? '' : `x-correlator: ${correlator}\r\n`;
  const head = 'content-type: application/json\r\ncontent-length: 17\r\n';
  return `HTTP/1.1 200 OK\r\n${head}${echo}\r\n{"swapped":false}`;
}

/** The reply that is due, as it stands on the wire. */
function own(correlator: string): string {
  const body = `{"for":"${correlator}"}`;
  return `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\nx-correlator: ${correlator}\r\n\r\n${body}`;
}

describe('a response too many on a connection that is kept alive', () => {
  it('behind the first reply never answers the second exchange', async () => {
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

  it('while the connection is idle, never answers the next exchange', async () => {
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
    ['with the correlator of the first', stale('exchange-1'), ANOTHERS],
    ['without a correlator', stale(), MISSING],
  ])('in place of the second reply, %s, is refused', async (_, late, refusal) => {
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
    expect(second).toMatchObject({ fault: { cause: 'invalid-reply', flaw: refusal } });
    await server.connections[0]?.closed;
    expect(third).toMatchObject({ reply: { body: '{"for":"exchange-3"}' } });
    expect(server.connections).toHaveLength(2);
  });
});

describe('an endpoint that is distrusted', () => {
  it('takes connections that carried nothing before, and believes an error on them, until it echoes', async () => {
    const told: Told[] = [OWN, ['none', 403], ['none', 403], OWN, OWN];
    await using server = await RecordingServer.start(echoing(...told));
    await using client = new TestEndpoint(server.url, { echo: 'always' });
    const outcomes = (await postInTurn(client, 2)).map(outcome);
    client.endpoint.distrust();
    outcomes.push(...(await postInTurn(client, 3)).map(outcome));

    expect(outcomes).toEqual([200, 'unproven 403', 403, 200, 200]);
    const [first, second, third, fourth, fifth] = server.received.map(
      ({ connection }) => connection,
    );
    expect(second).toBe(first);
    expect(new Set([first, third, fourth]).size).toBe(3);
    expect(fifth).toBe(first);
  });
});
