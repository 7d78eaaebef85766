import assert from 'node:assert/strict';
import { act, cleanup, renderHook, waitFor } from '@testing-library/react';
import { StrictMode } from 'react';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { codesAt, type RequestCode } from '../app/codeReply.ts';
import { useSmsCode, type SmsCode, type SmsCodeOptions } from '../app/useSmsCode.ts';
import { startBff, type Bff } from '../bff.ts';
import { startIdentityProvider, type IdentityProvider } from '../identityProvider.ts';
import { askBff, startCodeServer, type CodeServer } from '../server/codes.ts';
import { userByToken } from '../server/user.ts';

const AGREES_AFTER_2_S = '+447700900050';
const DECLINES = '+447700900052';
const NEVER_ANSWERS = '+447700900055';
const SWAPPED = '+447700900001';

/** A busy machine takes longer than the second that is waited otherwise. */
const AMPLE = { timeout: 20_000 };

let identityProvider: IdentityProvider;
let bff: Bff;
let server: CodeServer;
beforeAll(async () => {
  identityProvider = await startIdentityProvider();
  bff = await startBff(identityProvider);
  server = await startCodeServer({
    userOf: userByToken(identityProvider.settings),
    askAbout: askBff(bff.url),
    sendSms: () => Promise.resolve(),
    note: () => undefined,
  });
});
afterEach(cleanup);
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await bff[Symbol.asyncDispose]();
  await identityProvider[Symbol.asyncDispose]();
});

function userOf(phoneNumber: string): RequestCode {
  return codesAt(server.url, () => identityProvider.signIn({ subject: 'alice', phoneNumber }));
}

class Screen {
  readonly #rendered;
  readonly kinds: string[] = [];
  #requestCode: RequestCode;

  constructor(requestCode: RequestCode) {
    this.#requestCode = requestCode;
    this.#rendered = renderHook<SmsCode, SmsCodeOptions>(
      (options) => {
        const code = useSmsCode(this.#requestCode, options);
        if (this.kinds.at(-1) !== code.state.kind) this.kinds.push(code.state.kind);
        return code;
      },
      { wrapper: StrictMode, initialProps: {} },
    );
  }

  get check(): SmsCode {
    return this.#rendered.result.current;
  }

  ask(): void {
    act(() => this.check.ask());
  }

  cancel(): void {
    act(() => this.check.cancel());
  }

  show(options: SmsCodeOptions): void {
    this.#rendered.rerender(options);
  }

  signIn(requestCode: RequestCode): void {
    this.#requestCode = requestCode;
    this.#rendered.rerender({});
  }

  leave(): void {
    this.#rendered.unmount();
  }

  async sees(kind: string): Promise<void> {
    await waitFor(() => assert.equal(this.check.state.kind, kind), AMPLE);
  }
}

async function stats(): Promise<Readonly<Record<string, number>>> {
  return (await (await fetch(bff.statsUrl)).json()) as Readonly<Record<string, number>>;
}

it('sends nothing before it is started', async () => {
  const before = await stats();
  const screen = new Screen(userOf(SWAPPED));
  expect(screen.check.state).toEqual({ kind: 'idle' });
  expect(await stats()).toEqual(before);
});

it.each([
  ['a consent that comes', AGREES_AFTER_2_S, ['idle', 'asking', 'pending', 'sent'], 1],
  ['an owner who declines', DECLINES, ['idle', 'asking', 'pending', 'anotherWay'], 1],
])(
  'shows %s, with one prompt however often the user presses',
  async (_, number, kinds, prompts) => {
    const before = await stats();
    const screen = new Screen(userOf(number));
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
  const user = userOf(NEVER_ANSWERS);
  const requestCode: RequestCode = (leaving) => {
    if (leaving !== undefined) signals.push(leaving);
    return user(leaving);
  };
  const ended = (): readonly boolean[] => signals.map(({ aborted }) => aborted);

  const screen = new Screen(requestCode);
  screen.ask();
  await screen.sees('pending');
  const asked = signals.length;
  expect(ended()).not.toContain(true);
  screen.show({ isInFront: false });
  expect(ended()).not.toContain(false);
  expect(screen.check.state.kind).toBe('pending');

  screen.show({ isInFront: true });
  await waitFor(() => expect(signals.length).toBeGreaterThan(asked), AMPLE);
  expect(ended().at(-1)).toBe(false);
});

it('is idle again for the next user, who sees nothing of the previous answer', async () => {
  const screen = new Screen(userOf(SWAPPED));
  screen.ask();
  await screen.sees('anotherWay');
  screen.signIn(userOf(AGREES_AFTER_2_S));
  expect(screen.check.state).toEqual({ kind: 'idle' });
});

it('cancelled is idle, and stays so', async () => {
  const screen = new Screen(userOf(NEVER_ANSWERS));
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
  const screen = new Screen((leaving) => {
    if (leaving !== undefined) signals.push(leaving);
    return new Promise(() => undefined);
  });
  screen.ask();
  expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  screen.leave();
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
});

it('offers another way where the request itself fails', async () => {
  const screen = new Screen(() => Promise.reject(new Error('no such store')));
  screen.ask();
  await screen.sees('anotherWay');
  expect(screen.kinds).toEqual(['idle', 'asking', 'anotherWay']);
});
