import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fetchSdl, type SubgraphSdl } from '../composition.ts';
import { startGateway, startSubgraphs } from '../stack.ts';
import { ask } from './ask.ts';
import { COMPOSERS } from './composers.ts';
import { GATEWAYS } from './gateways.ts';

const running = new AsyncDisposableStack();
let subgraphs: readonly SubgraphSdl[];

beforeAll(async () => {
  const { accounts, simSwap } = running.use(await startSubgraphs({ accounts: 0, simSwap: 0 }));
  subgraphs = await Promise.all([accounts, simSwap].map(fetchSdl));
});
afterAll(() => running.disposeAsync());

describe.each(GATEWAYS)('%s', (_, program) => {
  it.each(COMPOSERS)(
    'answers a query across both subgraphs, as composed by %s',
    async (__, compose) => {
      await using gateway = await startGateway(compose(subgraphs), { program });
      expect(
        await ask(gateway.url, '{ customers { id phoneNumber { simSwappedWithin } } }'),
      ).toMatchObject({
        data: {
          customers: [
            { id: '1', phoneNumber: { simSwappedWithin: true } },
            { id: '2', phoneNumber: { simSwappedWithin: false } },
            { id: '3', phoneNumber: { simSwappedWithin: null } },
          ],
        },
        errors: [
          {
            path: ['customers', 2, 'phoneNumber', 'simSwappedWithin'],
            extensions: { code: 'NUMBER_NOT_SERVED' },
          },
        ],
      });
    },
  );
});
