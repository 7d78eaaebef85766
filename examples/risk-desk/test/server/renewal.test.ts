import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
  it('is renewed, once for all who ask at the same time', async () => {
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
    expect((await browser.send(`${stack.url}/session`)).status).toBe(401);
  });
});
