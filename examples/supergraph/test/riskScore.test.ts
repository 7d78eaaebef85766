import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startProgram } from '../../processes.ts';
import { fetchSdl, type SubgraphSdl } from '../composition.ts';
import { startGateway, startSubgraphs } from '../stack.ts';
import { ask, type Reply } from './ask.ts';
import { COMPOSERS } from './composers.ts';
import { GATEWAYS } from './gateways.ts';
import { startRecordingProxy, type RecordingProxy } from './recordingProxy.ts';

const running = new AsyncDisposableStack();
let subgraphs: readonly SubgraphSdl[];
let simSwap: RecordingProxy;

beforeAll(async () => {
  const started = running.use(await startSubgraphs({ accounts: 0, simSwap: 0 }));
  simSwap = running.use(await startRecordingProxy(started.simSwap.url));
  const risk = await startProgram(new URL('../risk/main.ts', import.meta.url), { PORT: '0' });
  running.defer(() => risk.stop());
  subgraphs = await Promise.all(
    [
      started.accounts,
      { ...started.simSwap, url: simSwap.url },
      { name: 'risk', url: risk.url },
    ].map(fetchSdl),
  );
});
beforeEach(() => {
  simSwap.requests.length = 0;
});
afterAll(() => running.disposeAsync());

describe.each(GATEWAYS)('a subgraph that requires simSwapCheck, behind %s', (_, program) => {
  it.each(COMPOSERS)('as composed by %s', async (__, compose) => {
    await using gateway = await startGateway(compose(subgraphs), { program });
    const reply = (query: string): Promise<Reply> => ask(gateway.url, query);

    expect(await reply('{ customers { id phoneNumber { riskScore } } }')).toEqual({
      data: {
        customers: [
          { id: '1', phoneNumber: { riskScore: 90 } },
          { id: '2', phoneNumber: { riskScore: 10 } },
          // The operator does not serve this number: UNKNOWN, as data, and no error.
          { id: '3', phoneNumber: { riskScore: 90 } },
        ],
      },
    });
    expect(simSwap.requests).toHaveLength(1);

    // Gateways bring the client's own window along in place of the one that is required.
    for (const own of ['simSwapCheck(maxAgeHours: 24) { result }', 'simSwapCheck: lastSimSwap']) {
      expect(
        await reply(`{ customer(id: "1") { phoneNumber { riskScore ${own} } } }`),
      ).toMatchObject({
        data: { customer: { phoneNumber: { riskScore: 90 } } },
      });
    }
    expect(
      await reply(
        '{ customer(id: "2") { phoneNumber { riskScore own: simSwapCheck(maxAgeHours: 24) { result } } } }',
      ),
    ).toEqual({
      data: { customer: { phoneNumber: { riskScore: 10, own: { result: 'NOT_SWAPPED' } } } },
    });
  });
});
