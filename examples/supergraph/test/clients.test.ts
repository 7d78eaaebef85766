import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { composeRunning, type Subgraph } from '../composition.ts';
import { startGateway, startSubgraphs } from '../stack.ts';
import { ask, type Reply } from './ask.ts';
import { startRecordingProxy, type RecordingProxy } from './recordingProxy.ts';

const running = new AsyncDisposableStack();
let accounts: Subgraph;
let gatewayUrl: string;
let simSwap: RecordingProxy;
let slowGatewayUrl: string;
/** Resolves when a request has reached the slow subgraph. */
let reached: Promise<{ readonly response: ServerResponse }>;

beforeAll(async () => {
  const subgraphs = running.use(await startSubgraphs({ accounts: 0, simSwap: 0 }));
  accounts = subgraphs.accounts;
  simSwap = running.use(await startRecordingProxy(subgraphs.simSwap.url));
  const supergraph = await composeRunning([accounts, { ...subgraphs.simSwap, url: simSwap.url }]);
  gatewayUrl = running.use(await startGateway(supergraph)).url;

  // Answers no lookup, as a slow operator.
  const slow = createServer();
  slow.listen(0, '127.0.0.1');
  await once(slow, 'listening');
  running.defer(() => {
    slow.close();
    slow.closeAllConnections();
  });
  reached = once(slow, 'request').then(([, response]) => ({
    response: response as ServerResponse,
  }));
  const slowUrl = `http://127.0.0.1:${(slow.address() as AddressInfo).port}/graphql`;
  const slowSupergraph = supergraph.replaceAll(simSwap.url, slowUrl);
  slowGatewayUrl = running.use(await startGateway(slowSupergraph)).url;
});
beforeEach(() => {
  simSwap.requests.length = 0;
});
afterAll(() => running.disposeAsync());

const BY_PHONE = `query ($e164s: [ID!]!) {
  customersByPhone(e164s: $e164s) { customer { id } phoneNumber { e164 simSwappedWithin } }
}`;

function askAbout(
  url: string,
  e164s: readonly string[],
  more: { headers?: Record<string, string>; signal?: AbortSignal } = {},
): Promise<Reply> {
  return ask(url, BY_PHONE, { variables: { e164s }, ...more });
}

describe('numbers of a list', () => {
  const LIST = ['+447700900004', '+447700901234', 'none', '+447700900001', '+447700900004'];

  it('come back in their order, each with its customer or with none', async () => {
    const { data, errors } = await askAbout(gatewayUrl, LIST);
    expect(data).toEqual({
      customersByPhone: [
        { customer: { id: '2' }, phoneNumber: { e164: LIST[0], simSwappedWithin: false } },
        { customer: null, phoneNumber: { e164: LIST[1], simSwappedWithin: null } },
        { customer: null, phoneNumber: { e164: LIST[2], simSwappedWithin: null } },
        { customer: { id: '1001' }, phoneNumber: { e164: LIST[3], simSwappedWithin: true } },
        { customer: { id: '2' }, phoneNumber: { e164: LIST[4], simSwappedWithin: false } },
      ],
    });
    // The operator does not know one of them, and one is not a number: the others are answered.
    expect(errors?.map(({ path }) => JSON.stringify(path)).toSorted()).toEqual([
      '["customersByPhone",1,"phoneNumber","simSwappedWithin"]',
      expect.stringContaining('"customersByPhone",2,"phoneNumber"'),
    ]);
    expect(simSwap.requests).toHaveLength(1);
  });
});

it('a subgraph that is not there is reported without its address and without the numbers', async () => {
  const supergraph = await composeRunning([accounts, { name: 'sim-swap', url: simSwap.url }]);
  const nowhere = 'http://127.0.0.1:9/graphql';
  await using gateway = await startGateway(supergraph.replaceAll(simSwap.url, nowhere));
  const { data, errors } = await askAbout(gateway.url, ['+447700900004']);
  expect(data).toEqual({
    customersByPhone: [
      { customer: { id: '2' }, phoneNumber: { e164: '+447700900004', simSwappedWithin: null } },
    ],
  });
  expect(errors).not.toHaveLength(0);
  expect(JSON.stringify(errors)).not.toMatch(/7700900004|127\.0\.0\.1|representations/);
});

it('two who ask the same at once are asked for apart, each with their own token', async () => {
  const tokens = ['Bearer one', 'Bearer two'];
  await Promise.all(
    tokens.map((authorization) =>
      askAbout(gatewayUrl, ['+447700900004'], { headers: { authorization } }),
    ),
  );
  const asked = simSwap.requests.map(({ headers }) => headers.authorization);
  expect(new Set(asked)).toEqual(new Set(tokens));
  expect(asked).toHaveLength(tokens.length);
});

it('a client that hangs up ends what the gateway asks for it', async () => {
  const client = new AbortController();
  const asked = askAbout(slowGatewayUrl, ['+447700900004'], { signal: client.signal });
  const { response } = await reached;
  const gone = once(response, 'close');
  const abortedAtMs = performance.now();
  client.abort();
  await expect(asked).rejects.toThrow('aborted');
  await gone;
  // By itself the gateway would give it up after twelve seconds.
  expect(performance.now() - abortedAtMs).toBeLessThan(6000);
});
