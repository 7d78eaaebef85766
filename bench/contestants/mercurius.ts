import { fastify } from 'fastify';
import mercurius, { type MercuriusLoaders } from 'mercurius';
import { compete } from '../processes/competing.ts';
import { lookUpByRequest } from './requested.ts';
import { phoneNumbers, TYPE_DEFS, type NumberSource } from './schema.ts';

// The fastest GraphQL server that a team would pick, with its own loaders and undici's `request`.

interface Question<P = Record<string, never>> {
  readonly obj: NumberSource;
  readonly params: P;
}

const loaders = {
  PhoneNumber: {
    lastSimSwap: (asked: readonly Question[]) =>
      Promise.all(
        asked.map(async ({ obj: { e164: phoneNumber } }) => {
          const body = await lookUpByRequest(phoneNumber, 'retrieve-date', { phoneNumber });
          return (body as { latestSimChange: string }).latestSimChange;
        }),
      ),
    simSwappedWithin: (asked: readonly Question<{ maxAgeHours: number }>[]) =>
      Promise.all(
        asked.map(async ({ obj: { e164: phoneNumber }, params: { maxAgeHours: maxAge } }) => {
          const body = await lookUpByRequest(phoneNumber, 'check', { phoneNumber, maxAge });
          return (body as { swapped: boolean }).swapped;
        }),
      ),
  },
};

const app = fastify();
await app.register(mercurius, {
  schema: TYPE_DEFS,
  resolvers: { Query: { phoneNumbers } },
  loaders: loaders as unknown as MercuriusLoaders,
});
const url = await app.listen({ port: 0, host: '127.0.0.1' });

compete({ url: () => url });
