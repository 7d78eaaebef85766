import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import DataLoader from 'dataloader';
import { compete } from '../processes/contestant.ts';
import { lookUpByFetch } from './fetched.ts';
import { phoneNumbers, TYPE_DEFS, type NumberSource } from './schema.ts';

// What teams write next: a DataLoader for each field, so that the same question is asked once.

interface Window {
  readonly number: string;
  readonly maxAge: number;
}

interface Context {
  readonly dates: DataLoader<string, string>;
  readonly windows: DataLoader<Window, boolean, string>;
}

function createContext(): Context {
  return {
    dates: new DataLoader((asked) => Promise.all(asked.map((number) => dateOf(number)))),
    windows: new DataLoader((asked) => Promise.all(asked.map((window) => isSwapped(window))), {
      cacheKeyFn: ({ number, maxAge }) => `${number} ${maxAge}`,
    }),
  };
}

async function dateOf(phoneNumber: string): Promise<string> {
  const body = await lookUpByFetch(phoneNumber, 'retrieve-date', { phoneNumber });
  return (body as { latestSimChange: string }).latestSimChange;
}

async function isSwapped({ number: phoneNumber, maxAge }: Window): Promise<boolean> {
  const body = await lookUpByFetch(phoneNumber, 'check', { phoneNumber, maxAge });
  return (body as { swapped: boolean }).swapped;
}

const apollo = new ApolloServer<Context>({
  typeDefs: TYPE_DEFS,
  resolvers: {
    Query: { phoneNumbers },
    PhoneNumber: {
      lastSimSwap: ({ e164 }: NumberSource, _args: unknown, { dates }: Context) => dates.load(e164),
      simSwappedWithin: (
        { e164 }: NumberSource,
        { maxAgeHours }: { maxAgeHours: number },
        { windows }: Context,
      ) => windows.load({ number: e164, maxAge: maxAgeHours }),
    },
  },
});

const { url } = await startStandaloneServer(apollo, {
  listen: { port: 0, host: '127.0.0.1' },
  context: () => Promise.resolve(createContext()),
});

compete({ url: () => new URL(url).origin });
