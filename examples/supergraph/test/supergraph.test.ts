import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { composeRunning } from '../composition.ts';
import { startGateway, startSubgraphs } from '../stack.ts';
import { ask, type Reply } from './ask.ts';
import { startRecordingProxy, type RecordingProxy } from './recordingProxy.ts';

const running = new AsyncDisposableStack();
let gatewayUrl: string;
let simSwap: RecordingProxy;

beforeAll(async () => {
  const subgraphs = running.use(await startSubgraphs({ accounts: 0, simSwap: 0 }));
  simSwap = running.use(await startRecordingProxy(subgraphs.simSwap.url));
  const composed = [subgraphs.accounts, { ...subgraphs.simSwap, url: simSwap.url }];
  gatewayUrl = running.use(await startGateway(await composeRunning(composed))).url;
});
beforeEach(() => {
  simSwap.requests.length = 0;
});
afterAll(() => running.disposeAsync());

function askGateway(query: string, headers: Record<string, string> = {}): Promise<Reply> {
  return ask(gatewayUrl, query, { headers });
}

describe('a query across both subgraphs', () => {
  it('resolves three customers in one request of three representations', async () => {
    const { data } = await askGateway('{ customers { id phoneNumber { simSwappedWithin } } }');

    expect(data).toEqual({
      customers: [
        { id: '1', phoneNumber: { simSwappedWithin: true } },
        { id: '2', phoneNumber: { simSwappedWithin: false } },
        { id: '3', phoneNumber: { simSwappedWithin: null } },
      ],
    });
    expect(simSwap.requests).toHaveLength(1);
    const [request] = simSwap.requests;
    expect(request?.query).toContain('_entities(');
    expect(Object.values(request?.variables ?? {})).toEqual([
      [
        { __typename: 'PhoneNumber', e164: '+447700900002' },
        { __typename: 'PhoneNumber', e164: '+447700900004' },
        { __typename: 'PhoneNumber', e164: '+447700900010' },
      ],
    ]);
  });

  it('returns an error with its code, at the path of its customer', async () => {
    const { errors } = await askGateway('{ customers { id phoneNumber { simSwappedWithin } } }');

    expect(errors?.map(({ path, extensions }) => [path, extensions['code']])).toEqual([
      [['customers', 2, 'phoneNumber', 'simSwappedWithin'], 'NUMBER_NOT_SERVED'],
    ]);
  });

  it('calls only the accounts subgraph for a query without SIM swaps', async () => {
    const { data } = await askGateway('{ customer(id: "1") { phoneNumber { e164 } } }');

    expect(data).toEqual({ customer: { phoneNumber: { e164: '+447700900002' } } });
    expect(simSwap.requests).toEqual([]);
  });

  it('hands on the headers that the subgraph reads, and no other', async () => {
    await askGateway('{ customer(id: "1") { phoneNumber { simSwappedWithin } } }', {
      authorization: 'Bearer of-a-caller',
      'x-correlator': 'a-correlator',
      'x-purpose': 'fraud-prevention',
      cookie: 'for=the-gateway-alone',
    });

    const [request] = simSwap.requests;
    expect(request?.headers).toMatchObject({
      authorization: 'Bearer of-a-caller',
      'x-correlator': 'a-correlator',
      'x-purpose': 'fraud-prevention',
    });
    expect(request?.headers.cookie).toBeUndefined();
  });
});
