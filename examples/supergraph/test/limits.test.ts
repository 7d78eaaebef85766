import { afterAll, beforeAll, expect, it } from 'vitest';
import { composeRunning } from '../composition.ts';
import { startGateway, startSubgraphs, type Subgraphs } from '../stack.ts';
import { ask } from './ask.ts';
import { GATEWAYS } from './gateways.ts';

const running = new AsyncDisposableStack();
let subgraphs: Subgraphs;

beforeAll(async () => {
  // There are three customers.
  process.env['MAX_NUMBERS_PER_OPERATION'] = '2';
  running.defer(() => {
    delete process.env['MAX_NUMBERS_PER_OPERATION'];
  });
  subgraphs = running.use(await startSubgraphs({ accounts: 0, simSwap: 0 }));
});
afterAll(() => running.disposeAsync());

it.each(GATEWAYS)(
  '%s passes on that a page is over a limit, over which, and by how much',
  async (_, program) => {
    const supergraph = await composeRunning([subgraphs.accounts, subgraphs.simSwap]);
    await using gateway = await startGateway(supergraph, { program });
    const { data, errors = [] } = await ask(
      gateway.url,
      '{ customers { id phoneNumber { simSwappedWithin } } }',
    );
    expect(data).toMatchObject({
      customers: [
        { id: '1', phoneNumber: { simSwappedWithin: null } },
        { id: '2', phoneNumber: { simSwappedWithin: null } },
        { id: '3', phoneNumber: { simSwappedWithin: null } },
      ],
    });
    expect(errors).not.toHaveLength(0);
    for (const error of errors) {
      expect(error).toMatchObject({
        message: expect.stringContaining('may have 2 numbers; this one has 3'),
        extensions: { code: 'LOOKUP_LIMIT_EXCEEDED', limited: 'numbers', limit: 2, asked: 3 },
      });
    }
  },
);
