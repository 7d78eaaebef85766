import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ApolloServer, HeaderMap } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import DataLoader from 'dataloader';
import { compete, operatorAddress } from '../processes/competing.ts';
import { DispatchedLookups } from './dispatched.ts';
import { phoneNumbers, TYPE_DEFS, type NumberSource } from './schema.ts';

// Apollo as fast as one can make it and still call it Apollo: a bare node:http handler, no plugins, a
// DataLoader for each field, and undici's dispatch. What is left out is all that keeps an answer from being
// wrong.

interface Window {
  readonly number: string;
  readonly maxAge: number;
}

interface Context {
  readonly dates: DataLoader<string, unknown>;
  readonly windows: DataLoader<Window, unknown, string>;
}

const lookups = new DispatchedLookups(operatorAddress(), 'kept');

function createContext(): Context {
  return {
    dates: new DataLoader(async (numbers) => {
      const answers = await lookups.all(
        numbers.map((phoneNumber) => ({ operation: 'retrieve-date', body: { phoneNumber } })),
      );
      return answers.map(({ latestSimChange }) => latestSimChange);
    }),
    windows: new DataLoader(
      async (windows) => {
        const answers = await lookups.all(
          windows.map(({ number: phoneNumber, maxAge }) => ({
            operation: 'check',
            body: { phoneNumber, maxAge },
          })),
        );
        return answers.map(({ swapped }) => swapped);
      },
      { cacheKeyFn: ({ number, maxAge }) => `${number} ${maxAge}` },
    ),
  };
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
  stopOnTerminationSignals: false,
  plugins: [
    ApolloServerPluginCacheControlDisabled(),
    ApolloServerPluginInlineTraceDisabled(),
    ApolloServerPluginLandingPageDisabled(),
    ApolloServerPluginSchemaReportingDisabled(),
    ApolloServerPluginUsageReportingDisabled(),
  ],
});
await apollo.start();

const server = createServer((request, response) => void serve(request, response));
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo;

compete({ url: () => `http://127.0.0.1:${port}` });

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  request.setEncoding('utf8');
  let text = '';
  for await (const chunk of request) text += String(chunk);
  const headers = new HeaderMap();
  for (const [name, value] of Object.entries(request.headers)) headers.set(name, String(value));
  const {
    status,
    headers: replied,
    body,
  } = await apollo.executeHTTPGraphQLRequest({
    httpGraphQLRequest: { method: 'POST', search: '', headers, body: JSON.parse(text) as unknown },
    context: () => Promise.resolve(createContext()),
  });
  if (body.kind !== 'complete') throw new Error('no query here is answered in chunks');
  for (const [name, value] of replied) response.setHeader(name, value);
  response.writeHead(status ?? 200);
  response.end(body.string);
}
