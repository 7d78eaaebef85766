import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { composeRunning } from '../composition.ts';
import { startGateway, startSubgraphs } from '../stack.ts';
import { ask } from './ask.ts';
import { startRecordingProxy, type RecordingProxy } from './recordingProxy.ts';

const running = new AsyncDisposableStack();
let gatewayUrl: string;
let accounts: RecordingProxy;
let simSwap: RecordingProxy;

beforeAll(async () => {
  const subgraphs = running.use(await startSubgraphs({ accounts: 0, simSwap: 0 }));
  accounts = running.use(await startRecordingProxy(subgraphs.accounts.url));
  simSwap = running.use(await startRecordingProxy(subgraphs.simSwap.url));
  const supergraph = await composeRunning([
    { ...subgraphs.accounts, url: accounts.url },
    { ...subgraphs.simSwap, url: simSwap.url },
  ]);
  const program = new URL('cachingGateway.ts', import.meta.url);
  gatewayUrl = running.use(await startGateway(supergraph, { program })).url;
});
beforeEach(() => {
  accounts.requests.length = 0;
  simSwap.requests.length = 0;
});
afterAll(() => running.disposeAsync());

it('a gateway that caches responses can leave out what it knows about numbers', async () => {
  const customer = '{ customer(id: "2") { id name } }';
  const answer = '{ customer(id: "2") { id phoneNumber { simSwappedWithin } } }';

  expect(await ask(gatewayUrl, customer)).toEqual(await ask(gatewayUrl, customer));
  expect(accounts.requests).toHaveLength(1);

  expect(await ask(gatewayUrl, answer)).toEqual(await ask(gatewayUrl, answer));
  expect(simSwap.requests).toHaveLength(2);
});
