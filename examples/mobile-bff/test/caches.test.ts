import { readFileSync } from 'node:fs';
import { ApolloClient, HttpLink, InMemoryCache, gql } from '@apollo/client';
import { Client, fetchExchange, type RequestPolicy } from '@urql/core';
import { cacheExchange } from '@urql/exchange-graphcache';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { launchSimulator } from '../../../simulator/launch.ts';
import { startProgram } from '../../processes.ts';
import type { MySimSwapQuery } from '../generated/graphql.ts';
import { typePolicies } from '../server/typePolicies.ts';

/** As codegen has it, so that the loop of docs/adopting.md compiles with its output. */
type Check = NonNullable<NonNullable<MySimSwapQuery['myPhoneNumber']>['simSwapCheck']>;

interface Data {
  readonly phoneNumber: { readonly e164: string; readonly simSwapCheck: Check | null } | null;
}

/** A line whose owner consents after two seconds: first UNKNOWN, then known. */
const QUERY = gql`
  query Check {
    phoneNumber(e164: "+447700900050") {
      __typename
      e164
      simSwapCheck {
        __typename
        result
        reason
        retryAfterSeconds
        expiresAt
      }
    }
  }
`;

let running: AsyncDisposableStack;
let url: string;

beforeEach(async () => {
  running = new AsyncDisposableStack();
  const simulator = await launchSimulator();
  running.defer(() => simulator.stop());
  const service = await startProgram(new URL('../../../src/main.ts', import.meta.url), {
    PORT: '0',
    ROLE: 'bff',
    OPERATOR_AUTH_URL: simulator.authUrl,
    OPERATOR_SIM_SWAP_URL: simulator.simSwapUrl,
    OPERATOR_CLIENT_ID: simulator.clientId,
    OPERATOR_CLIENT_SECRET: simulator.clientSecret,
    OPERATOR_FLOW: '3-legged',
    CONSENT_WAIT_MS: '300',
  });
  running.defer(() => service.stop());
  url = `${service.url}/graphql`;
});
afterEach(() => running.disposeAsync());

type Ask = () => Promise<Data | undefined>;

/** The loop of docs/adopting.md. */
async function untilAnswered(ask: () => Promise<Check | null | undefined>, signal: AbortSignal) {
  let endsAtMs = Date.now() + 600_000;
  for (;;) {
    const check = await ask();
    if (check?.reason !== 'CONSENT_PENDING') return check;
    if (check.expiresAt) endsAtMs = Math.min(endsAtMs, Date.parse(check.expiresAt));
    const waitMs = Math.max(check.retryAfterSeconds ?? 1, 1) * 1000;
    if (Date.now() + waitMs > endsAtMs) return check;
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    signal.throwIfAborted();
  }
}

async function askUntilAnswered(ask: Ask): Promise<readonly string[]> {
  const told: string[] = [];
  const asked = async () => {
    const check = (await ask())?.phoneNumber?.simSwapCheck;
    told.push(check?.reason ?? check?.result ?? 'nothing');
    return check;
  };
  await untilAnswered(asked, AbortSignal.timeout(20_000));
  return told;
}

function expectPendingThenKnown(told: readonly string[]): void {
  expect(told[0]).toBe('CONSENT_PENDING');
  expect(told.at(-1)).toBe('NOT_SWAPPED');
}

describe('Apollo Client', () => {
  it('with no-cache keeps nothing', async () => {
    const cache = new InMemoryCache();
    const client = new ApolloClient({ link: new HttpLink({ uri: url }), cache });
    const ask: Ask = async () =>
      (await client.query<Data>({ query: QUERY, fetchPolicy: 'no-cache', errorPolicy: 'all' }))
        .data;

    expectPendingThenKnown(await askUntilAnswered(ask));
    expect(cache.extract()).toEqual({});
  });

  it('with a cache and the type policy drops what is UNKNOWN, and queries again', async () => {
    const cache = new InMemoryCache({ typePolicies });
    const client = new ApolloClient({ link: new HttpLink({ uri: url }), cache });
    const cached: string[] = [];
    const ask: Ask = async () => {
      const { data } = await client.query<Data>({ query: QUERY });
      cached.push(JSON.stringify(cache.extract()));
      return data;
    };

    expectPendingThenKnown(await askUntilAnswered(ask));
    expect(cached[0]).toContain('PhoneNumber:{\\"e164\\":\\"+447700900050\\"}');
    for (const one of cached) expect(one).not.toContain('UNKNOWN');
    expect(cached.at(-1)).toContain('NOT_SWAPPED');
  });

  it('with only a cache would answer UNKNOWN for good', async () => {
    const client = new ApolloClient({
      link: new HttpLink({ uri: url }),
      cache: new InMemoryCache(),
    });
    await client.query<Data>({ query: QUERY });
    const { data } = await client.query<Data>({ query: QUERY, fetchPolicy: 'cache-only' });
    expect(data?.phoneNumber?.simSwapCheck?.result).toBe('UNKNOWN');
  });
});

function graphcache() {
  return cacheExchange({
    keys: {
      PhoneNumber: ({ e164 }) => (typeof e164 === 'string' ? e164 : null),
      SimSwapCheck: () => null,
    },
  });
}

function askWith(client: Client, requestPolicy: RequestPolicy): Ask {
  return async () => (await client.query<Data>(QUERY, {}, { requestPolicy }).toPromise()).data;
}

describe('urql', () => {
  it('with a client of its own, without a cache, queries each time; the cache of the others is not changed', async () => {
    const others = new Client({
      url,
      preferGetMethod: false,
      exchanges: [graphcache(), fetchExchange],
    });
    const client = new Client({ url, preferGetMethod: false, exchanges: [fetchExchange] });
    await others.query('{ phoneNumber(e164: "+447700900050") { e164 } }', {}).toPromise();

    expectPendingThenKnown(await askUntilAnswered(askWith(client, 'cache-first')));
    expect(await askWith(others, 'cache-only')()).toBeFalsy();
  });

  it('with Graphcache would keep UNKNOWN, network-only or not', async () => {
    const client = new Client({
      url,
      preferGetMethod: false,
      exchanges: [graphcache(), fetchExchange],
    });
    await askWith(client, 'network-only')();
    const kept = await askWith(client, 'cache-only')();
    expect(kept?.phoneNumber?.simSwapCheck?.result).toBe('UNKNOWN');
  });

  it('sends GET by default, which is refused with what to do', async () => {
    const client = new Client({ url, exchanges: [fetchExchange] });
    const { error } = await client.query('{ __typename }', {}).toPromise();
    expect(error?.message).toMatch('preferGetMethod: false');
  });

  it.each([
    ['preferGetMethod: false', { preferGetMethod: false }],
    [
      'the header',
      { preferGetMethod: true, fetchOptions: { headers: { 'apollo-require-preflight': 'true' } } },
    ],
  ])('is answered with %s', async (_, settings) => {
    const client = new Client({ url, exchanges: [fetchExchange], ...settings });
    expect((await client.query('{ __typename }', {}).toPromise()).data).toEqual({
      __typename: 'Query',
    });
  });
});

function read(path: string): string {
  return readFileSync(new URL(path, import.meta.url), 'utf8');
}

it('docs/adopting.md has the same loop', () => {
  const [loop = ''] = /^async function untilAnswered[^]*?^}/m.exec(read('caches.test.ts')) ?? [];
  expect(loop).not.toBe('');
  expect(read('../../../docs/adopting.md').includes(loop)).toBe(true);
});
