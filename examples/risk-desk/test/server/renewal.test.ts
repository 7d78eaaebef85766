import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { startStack, type Stack } from '../../demo/stack.ts';
import { emptyPage, SignedIn } from './httpBrowser.ts';

const ONE = '+447700900004';

let stack: Stack;

beforeAll(async () => {
  // Each request finds its access token close to its end.
  stack = await startStack({ accessTokenSeconds: 20, desk: { pageDirectory: emptyPage() } });
});
afterAll(() => stack.stop());

describe('an access token that is about to end', () => {
  it('is renewed once for all simultaneous requests', async () => {
    const person = await SignedIn.as(stack.url, stack.people.lead);
    for (let round = 0; round < 3; round += 1) {
      const replies = await Promise.all(Array.from({ length: 8 }, () => person.ask([ONE])));
      // A refresh token works once: a second renewal with it would end all of them.
      expect(replies.map(({ status, codes }) => [status, codes])).toEqual(
        replies.map(() => [200, []]),
      );
    }
  });

  it('ends the session clearly once the provider gives no other', async () => {
    const person = await SignedIn.as(stack.url, stack.people.lead);
    const { browser } = person;
    expect((await person.ask([ONE])).status).toBe(200);

    // Signed out at the provider, from another page.
    const form = await (
      await browser.visit(`${stack.issuer}/session/end?client_id=risk-desk`)
    ).text();
    const [, action = ''] = /action="([^"]+)"/.exec(form) ?? [];
    const [, xsrf = ''] = /name="xsrf" value="([^"]+)"/.exec(form) ?? [];
    const body = new URLSearchParams({ xsrf, logout: 'yes' });
    await browser.visit(action, { method: 'POST', body });

    const reply = await person.ask([ONE]);
    expect([reply.status, reply.codes]).toEqual([401, ['UNAUTHENTICATED']]);
    expect(await browser.isSignedIn(stack.url)).toBe(false);
  });
});

/** Holds the provider's replies to renewals until `goOn()`, and keeps what was said. */
function holdRenewals() {
  const { promise: held, resolve: goOn } = Promise.withResolvers<void>();
  const renewed = Promise.withResolvers<string>();
  const revoked: (string | null)[] = [];
  const really = globalThis.fetch;
  const spy = vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const response = await really(input, init);
    const form = init?.body instanceof URLSearchParams ? init.body : new URLSearchParams();
    if (form.get('grant_type') === 'refresh_token') {
      const { refresh_token: token } = (await response.clone().json()) as Record<string, string>;
      renewed.resolve(token ?? '');
      await held;
    }
    if (response.url.endsWith('/revocation')) revoked.push(form.get('token'));
    return response;
  });
  onTestFinished(() => spy.mockRestore());
  return { renewed: renewed.promise, revoked, goOn };
}

it('is taken back with the session that a further sign-in replaces', async () => {
  const person = await SignedIn.as(stack.url, stack.people.lead);
  const { revoked } = holdRenewals();
  await person.browser.visit(`${stack.url}/sign-in`);
  expect(revoked).toHaveLength(1);
  // The new one has tokens of its own.
  expect(await person.browser.isSignedIn(stack.url)).toBe(true);
});

describe('signing out while an access token is renewed', () => {
  it('revokes the new tokens too, and uses them for nothing', async () => {
    const person = await SignedIn.as(stack.url, stack.people.lead);
    const { browser, session } = person;
    const { renewed, revoked, goOn } = holdRenewals();
    const question = person.ask([ONE]);
    const token = await renewed;
    const headers = { 'x-csrf-token': session.csrfToken };
    const signOut = browser.send(`${stack.url}/sign-out`, { method: 'POST', headers });
    // The session is over before the provider has answered.
    await expect.poll(() => browser.isSignedIn(stack.url)).toBe(false);
    goOn();
    expect((await signOut).status).toBe(200);
    expect(revoked).toEqual([token]);
    expect((await question).codes).toEqual(['UNAUTHENTICATED']);
  });
});
