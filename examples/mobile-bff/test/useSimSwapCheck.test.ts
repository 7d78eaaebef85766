import assert from 'node:assert/strict';
import { ApolloClient, InMemoryCache } from '@apollo/client';
import { ApolloProvider } from '@apollo/client/react';
import { act, cleanup, renderHook, waitFor } from '@testing-library/react';
import { createElement, StrictMode, type ReactNode } from 'react';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { createClient } from '../app/client.ts';
import {
  useSimSwapCheck,
  type SimSwapCheck,
  type SimSwapCheckOptions,
} from '../app/useSimSwapCheck.ts';
import { startBff, type Bff } from '../bff.ts';
import { startIdentityProvider, type IdentityProvider } from '../identityProvider.ts';

/** Test numbers of the simulator. */
const AGREES_AFTER_2_S = '+447700900050';
const DECLINES = '+447700900052';
const NEVER_ANSWERS = '+447700900055';
const SWAPPED = '+447700900001';

let identityProvider: IdentityProvider;
let bff: Bff;
beforeAll(async () => {
  identityProvider = await startIdentityProvider();
  bff = await startBff(identityProvider);
});
afterEach(cleanup);
afterAll(async () => {
  await bff[Symbol.asyncDispose]();
  await identityProvider[Symbol.asyncDispose]();
});

async function clientOf(phoneNumber: string): Promise<ApolloClient> {
  const accessToken = await identityProvider.signIn({ subject: 'alice', phoneNumber });
  return createClient({ url: bff.url, accessToken });
}

/** What tells a request that it is no longer wanted. */
interface Asked {
  readonly context: { readonly fetchOptions: { readonly signal: AbortSignal } };
}

/** A screen with the hook, as its component sees it. */
class Screen {
  readonly #rendered;
  readonly kinds: string[] = [];
  #client: ApolloClient;

  constructor(client: ApolloClient) {
    this.#client = client;
    this.#rendered = renderHook<SimSwapCheck, SimSwapCheckOptions>(
      (options) => {
        const check = useSimSwapCheck(options);
        if (this.kinds.at(-1) !== check.state.kind) this.kinds.push(check.state.kind);
        return check;
      },
      { wrapper: this.#wrapper, initialProps: {} },
    );
  }

  readonly #wrapper = ({ children }: { children: ReactNode }) =>
    createElement(
      StrictMode,
      null,
      createElement(ApolloProvider, { client: this.#client, children }),
    );

  get check(): SimSwapCheck {
    return this.#rendered.result.current;
  }

  ask(): void {
    act(() => this.check.ask());
  }

  cancel(): void {
    act(() => this.check.cancel());
  }

  show(options: SimSwapCheckOptions): void {
    this.#rendered.rerender(options);
  }

  signIn(client: ApolloClient): void {
    this.#client = client;
    this.#rendered.rerender({});
  }

  leave(): void {
    this.#rendered.unmount();
  }

  async sees(kind: string): Promise<void> {
    await waitFor(() => assert.equal(this.check.state.kind, kind), { timeout: 20_000 });
  }
}

async function stats(): Promise<Readonly<Record<string, number>>> {
  return (await (await fetch(bff.statsUrl)).json()) as Readonly<Record<string, number>>;
}

it('asks nothing before it is told to', async () => {
  const before = await stats();
  const screen = new Screen(await clientOf(SWAPPED));
  expect(screen.check.state).toEqual({ kind: 'idle' });
  expect(await stats()).toEqual(before);
});

it.each([
  ['a consent that comes', AGREES_AFTER_2_S, ['idle', 'asking', 'pending', 'trusted'], 1],
  ['an owner who declines', DECLINES, ['idle', 'asking', 'pending', 'declined'], 1],
])(
  'shows %s, with one prompt however often the user presses',
  async (_, number, kinds, prompts) => {
    const before = await stats();
    const screen = new Screen(await clientOf(number));
    screen.ask();
    screen.ask();
    await screen.sees('pending');
    screen.ask();
    await screen.sees(kinds.at(-1) ?? '');

    expect(screen.kinds).toEqual(kinds);
    expect((await stats())['prompts']).toBe((before['prompts'] ?? 0) + prompts);
  },
);

it('stops asking when the app leaves the front, and goes on when it is back', async () => {
  const signals: AbortSignal[] = [];
  const client = await clientOf(NEVER_ANSWERS);
  const { query } = client;
  Object.assign(client, {
    query: (options: Asked): unknown => {
      signals.push(options.context.fetchOptions.signal);
      return Reflect.apply(query, client, [options]);
    },
  });
  const ended = (): readonly boolean[] => signals.map(({ aborted }) => aborted);

  const screen = new Screen(client);
  screen.ask();
  await screen.sees('pending');
  const asked = signals.length;
  expect(ended()).not.toContain(true);
  screen.show({ isInFront: false });
  expect(ended()).not.toContain(false);
  expect(screen.check.state.kind).toBe('pending');

  screen.show({ isInFront: true });
  await waitFor(() => expect(signals.length).toBeGreaterThan(asked));
  expect(ended().at(-1)).toBe(false);
});

it('is idle again for the next user, who sees nothing of what the last was told', async () => {
  const screen = new Screen(await clientOf(SWAPPED));
  screen.ask();
  await screen.sees('swapped');
  screen.signIn(await clientOf(AGREES_AFTER_2_S));
  expect(screen.check.state).toEqual({ kind: 'idle' });
});

it('cancelled is idle, and stays so', async () => {
  const screen = new Screen(await clientOf(NEVER_ANSWERS));
  screen.ask();
  screen.cancel();
  expect(screen.check.state).toEqual({ kind: 'idle' });
  screen.ask();
  await screen.sees('pending');
  screen.cancel();
  expect(screen.check.state).toEqual({ kind: 'idle' });
});

it('ends the request that is under way when the screen is left', async () => {
  const signals: AbortSignal[] = [];
  const client = new ApolloClient({
    link: (await clientOf(SWAPPED)).link,
    cache: new InMemoryCache(),
  });
  Object.assign(client, {
    query: (options: Asked) => {
      signals.push(options.context.fetchOptions.signal);
      return new Promise(() => undefined);
    },
  });
  const screen = new Screen(client);
  screen.ask();
  expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  screen.leave();
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
});

it('trusts nothing where the client itself fails', async () => {
  const client = await clientOf(SWAPPED);
  client.query = () => Promise.reject(new Error('no such store'));
  const screen = new Screen(client);
  screen.ask();
  await screen.sees('unknown');
  expect(screen.check.state).toEqual({ kind: 'unknown', code: 'NO_ANSWER' });
});
