import { RESTDataSource } from '@apollo/datasource-rest';
import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { compete, operatorAddress } from '../processes/competing.ts';
import {
  CLIENT_AUTHORIZATION,
  phoneNumbers,
  SCOPES,
  tokenForm,
  TYPE_DEFS,
  type NumberSource,
} from './schema.ts';

// What teams write first: Apollo's standalone server and its data source, a token call in every resolver.

const address = operatorAddress();

class OperatorApi extends RESTDataSource {
  override baseURL = `${address.authUrl}/`;

  async lookUp(number: string, operation: keyof typeof SCOPES, body: object): Promise<unknown> {
    const token = await this.post<{ access_token: string }>('oauth/v1/token', {
      headers: {
        authorization: CLIENT_AUTHORIZATION,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: tokenForm(number, operation),
    });
    return this.post(`${address.simSwapUrl}/${operation}`, {
      headers: { authorization: `Bearer ${token.access_token}` },
      body,
    });
  }
}

interface Context {
  readonly operator: OperatorApi;
}

const apollo = new ApolloServer<Context>({
  typeDefs: TYPE_DEFS,
  resolvers: {
    Query: { phoneNumbers },
    PhoneNumber: {
      lastSimSwap: async ({ e164 }: NumberSource, _args: unknown, { operator }: Context) => {
        const body = await operator.lookUp(e164, 'retrieve-date', { phoneNumber: e164 });
        return (body as { latestSimChange: string }).latestSimChange;
      },
      simSwappedWithin: async (
        { e164 }: NumberSource,
        { maxAgeHours }: { maxAgeHours: number },
        { operator }: Context,
      ) => {
        const body = await operator.lookUp(e164, 'check', {
          phoneNumber: e164,
          maxAge: maxAgeHours,
        });
        return (body as { swapped: boolean }).swapped;
      },
    },
  },
});

const { url } = await startStandaloneServer(apollo, {
  listen: { port: 0, host: '127.0.0.1' },
  context: async () => ({ operator: new OperatorApi({ cache: apollo.cache }) }),
});

compete({ url: () => new URL(url).origin });
