import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startStack, type Stack } from '../../demo/stack.ts';
import { SESSION_LIMITS } from '../../server/settings.ts';
import { BY_PHONE, emptyPage, HttpBrowser, SignedIn } from './httpBrowser.ts';

const [ONE, TWO] = ['+447700900004', '+447700900001'];
/** Its lookups are never answered. */
const SILENT = '+447700900016';

let stack: Stack;
let analyst: SignedIn;
let lead: SignedIn;

beforeAll(async () => {
  // More of them sign in here than people do.
  const sessions = { ...SESSION_LIMITS, maxSessionsPerPerson: 100 };
  stack = await startStack({ desk: { pageDirectory: emptyPage(), sessions } });
  analyst = await SignedIn.as(stack.url, stack.people.analyst);
  lead = await SignedIn.as(stack.url, stack.people.lead);
});
afterAll(() => stack.stop());

/** The requests to the operator that cost anything. */
async function operatorCosts(): Promise<{ tokens: number; lookups: number }> {
  const stats = (await (await fetch(stack.statsUrl)).json()) as Record<string, number>;
  const { tokens = 0, lookups = 0, refusedLookups = 0 } = stats;
  return { tokens, lookups: lookups + refusedLookups };
}

async function prompts(): Promise<number> {
  return ((await (await fetch(stack.statsUrl)).json()) as { prompts: number }).prompts;
}

function auditedSince(lines: number): readonly Readonly<Record<string, unknown>>[] {
  return audited().slice(lines);
}

function audited(): readonly Readonly<Record<string, unknown>>[] {
  return readFileSync(stack.auditLog, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Sends bytes as they are, and reads what comes back until the connection ends. */
async function sendRaw(lines: readonly string[], body = ''): Promise<string> {
  const { port } = new URL(stack.url);
  const socket = connect(Number(port), '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`);
  const read = readText(socket);
  socket.setTimeout(3000, () => socket.destroy());
  return read.catch(() => '');
}

/** A request with a path as it is: fetch would tidy it up. */
async function get(path: string, headers: Record<string, string> = {}, method = 'GET') {
  const { port } = new URL(stack.url);
  const asked = httpRequest({ host: '127.0.0.1', port, path, method, headers }).end();
  const [response] = (await once(asked, 'response')) as [import('node:http').IncomingMessage];
  return { status: response.statusCode, headers: response.headers, text: await readText(response) };
}

/** A person who has typed the password, and whom the provider sends back. */
async function onTheWayBack(): Promise<{ browser: HttpBrowser; callback: string }> {
  const browser = new HttpBrowser();
  await browser.signIn(stack.url, stack.people.lead, /\/callback/);
  return { browser, callback: browser.visited.at(-1) ?? '' };
}

async function expectRefused(browser: HttpBrowser, callback: string): Promise<void> {
  const response = await browser.send(callback);
  expect(response.status).toBe(400);
  expect(response.headers.getSetCookie().join()).not.toContain('desk-session=');
  const page = await response.text();
  expect(page).toContain('You are not signed in');
  expect(page).not.toContain(new URL(callback).searchParams.get('state') ?? 'no state');
}

describe('signing in', () => {
  it('is an authorization code with PKCE, state and nonce', async () => {
    const browser = new HttpBrowser();
    await browser.visit(`${stack.url}/sign-in`);
    const asked = new URL(browser.visited[1] ?? '');
    expect(asked.origin).toBe(stack.issuer);
    expect(Object.fromEntries(asked.searchParams)).toEqual({
      response_type: 'code',
      client_id: 'risk-desk',
      redirect_uri: `${stack.url}/callback`,
      scope: 'openid profile roles sim-swap:read sim-swap:batch',
      resource: 'https://sim-swap.example',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
  });

  it('tells the page who has signed in, and what they may do', () => {
    expect(analyst.session).toMatchObject({
      name: 'Ana Lyst',
      roles: ['analyst'],
      mayBatch: false,
    });
    expect(lead.session).toMatchObject({ roles: ['analyst', 'lead'], mayBatch: true });
    expect(lead.session.purposes.map(({ id }) => id)).toContain('account-recovery');
    expect(analyst.session.csrfToken).not.toBe(lead.session.csrfToken);
  });

  it('gives the browser a cookie that no script reads, and no token', async () => {
    const browser = new HttpBrowser();
    const back = await browser.signIn(stack.url, stack.people.lead, /\/callback/);
    expect(back.status).toBe(303);
    const response = await browser.send(browser.visited.at(-1) ?? '');
    expect(response.headers.get('location')).toBe('/');
    const cookies = response.headers.getSetCookie();
    expect(cookies).toEqual([
      expect.stringMatching(/^desk-session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/),
      'desk-sign-in=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0',
    ]);
    const session = await (await browser.send(`${stack.url}/session`)).text();
    // A JWT, or anything else that the provider gives, would be of no use to the page.
    expect(session).not.toMatch(/eyJ|access|refresh|id_token/);
  });

  it('wants the right password', async () => {
    const browser = new HttpBrowser();
    const { login } = stack.people.lead;
    const refused = await browser.signIn(stack.url, { login, password: 'another' });
    expect(refused.status).toBe(401);
    expect(await refused.text()).toContain('role="alert"');
    expect(await browser.isSignedIn(stack.url)).toBe(false);
  });

  it('is not an error before a sign-in: the page checks that first', async () => {
    const reply = await get('/session');
    expect([reply.status, reply.text]).toEqual([200, 'null']);
  });

  it('leads to the desk and nowhere else, whatever the address says', async () => {
    for (const search of ['?returnTo=https://evil.example', '?redirect_uri=//evil.example']) {
      const response = await new HttpBrowser().send(`${stack.url}/sign-in${search}`);
      expect(response.headers.get('location')).not.toContain('evil');
    }
  });
});

describe('coming back from the provider', () => {
  it('works once: the same address again does not sign in', async () => {
    const { browser, callback } = await onTheWayBack();
    const before = new HttpBrowser();
    for (const [name, value] of browser.cookies) before.cookies.set(name, value);
    expect((await browser.send(callback)).headers.get('location')).toBe('/');
    await expectRefused(browser, callback);
    // Not with the cookie of the sign-in either, which a thief may have kept.
    await expectRefused(before, callback);
  });

  it.each([
    ['in another browser', (there: URL) => there, { keepsCookies: false }],
    ['with another state', changing('state', 'x'.repeat(43)), { keepsCookies: true }],
    ['without a state', changing('state', undefined), { keepsCookies: true }],
    ['with another code', changing('code', 'y'.repeat(43)), { keepsCookies: true }],
    ['without a code', changing('code', undefined), { keepsCookies: true }],
    ['from another issuer', changing('iss', 'https://evil.example'), { keepsCookies: true }],
    ['with an error', changing('error', 'access_denied'), { keepsCookies: true }],
  ])('%s does not sign in', async (_, change, { keepsCookies }) => {
    const { browser, callback } = await onTheWayBack();
    const victim = keepsCookies ? browser : new HttpBrowser();
    await expectRefused(victim, change(new URL(callback)).href);
  });

  it('with a forged cookie does not sign in', async () => {
    const { browser, callback } = await onTheWayBack();
    const sealed = browser.cookies.get('desk-sign-in') ?? '';
    const flipped = `${sealed.slice(0, 20)}${sealed[20] === 'A' ? 'B' : 'A'}${sealed.slice(21)}`;
    for (const forged of [flipped, sealed.slice(0, 30), 'e30', '%00', '']) {
      browser.cookies.set('desk-sign-in', forged);
      await expectRefused(browser, callback);
    }
  });

  it('with the code of another sign-in does not sign in', async () => {
    const attacker = await onTheWayBack();
    const victim = await onTheWayBack();
    const code = new URL(attacker.callback).searchParams.get('code') ?? '';
    await expectRefused(victim.browser, changing('code', code)(new URL(victim.callback)).href);
  });

  it('starts a session under a new id, and ends the one that was there', async () => {
    const first = await SignedIn.as(stack.url, stack.people.analyst);
    const planted = 'p'.repeat(43);
    const fixed = new HttpBrowser();
    fixed.cookies.set('desk-session', planted);
    await fixed.signIn(stack.url, stack.people.analyst);
    expect(fixed.cookies.get('desk-session')).not.toBe(planted);

    const before = first.browser.cookies.get('desk-session') ?? '';
    await first.browser.visit(`${stack.url}/sign-in`);
    expect(first.browser.cookies.get('desk-session')).not.toBe(before);
    expect((await get('/session', { cookie: `desk-session=${before}` })).text).toBe('null');
  });

  it.each(['cross-site', 'same-site', 'an-unknown-word'])(
    'does not begin for a page of another site (%s): its link ends no session',
    async (site) => {
      const { browser } = await SignedIn.as(stack.url, stack.people.analyst);
      const before = browser.cookieHeader;
      const headers = { 'sec-fetch-site': site };
      const reply = await browser.send(`${stack.url}/sign-in`, { headers });
      expect(reply.headers.get('location')).toBe('/');
      expect(browser.cookieHeader).toBe(before);
      expect(await browser.isSignedIn(stack.url)).toBe(true);
    },
  );
});

describe('signing out', () => {
  it('ends the session here and at the provider', async () => {
    const person = await SignedIn.as(stack.url, stack.people.lead);
    const { browser, session } = person;
    const cookie = browser.cookieHeader;
    const headers = { 'x-csrf-token': session.csrfToken };
    const response = await browser.send(`${stack.url}/sign-out`, { method: 'POST', headers });
    const { location } = (await response.json()) as { location: string };
    expect((await get('/session', { cookie })).text).toBe('null');
    expect(location.startsWith(`${stack.issuer}/`)).toBe(true);
    // Nothing of the person is in an address, where it would stay in the browser's history.
    expect(Object.fromEntries(new URL(location).searchParams)).toEqual({
      client_id: 'risk-desk',
      post_logout_redirect_uri: `${stack.url}/`,
    });

    const form = await (await browser.visit(location)).text();
    const [, action = ''] = /action="([^"]+)"/.exec(form) ?? [];
    const [, xsrf = ''] = /name="xsrf" value="([^"]+)"/.exec(form) ?? [];
    const body = new URLSearchParams({ xsrf, logout: 'yes' });
    await browser.visit(action, { method: 'POST', body });
    expect(browser.visited.at(-1)).toBe(`${stack.url}/`);

    const again = await browser.visit(`${stack.url}/sign-in`);
    expect(await again.text()).toContain('name="password"');
  });
});

describe('what a person may ask', () => {
  it('as an analyst: one case at a time, by the word of the service', async () => {
    const before = await operatorCosts();
    const lists = [
      await analyst.ask([ONE, TWO]),
      await analyst.post(
        JSON.stringify({
          query: `query ($a: [ID!]!, $b: [ID!]!) {
            customersByPhone(e164s: $a) { phoneNumber { lastSimSwap } }
            b: customersByPhone(e164s: $b) { phoneNumber { simSwappedWithin } }
          }`,
          variables: { a: [ONE, TWO], b: [TWO, ONE] },
        }),
      ),
      await analyst.post(
        JSON.stringify({ query: '{ customers { phoneNumber { lastSimSwap } } }' }),
      ),
    ];
    for (const { codes, text } of lists) {
      expect(new Set(codes)).toEqual(new Set(['FORBIDDEN']));
      expect(text).toContain('sim-swap:batch');
      expect(text).not.toMatch(/"lastSimSwap":"|"simSwappedWithin":(?:true|false)/);
    }
    expect(await operatorCosts()).toEqual(before);

    const one = await analyst.ask([TWO]);
    expect([one.status, one.codes]).toEqual([200, []]);
    expect(one.data.customersByPhone).toMatchObject([{ phoneNumber: { simSwappedWithin: true } }]);
  });

  it('as a lead: lists', async () => {
    const { data, codes, headers } = await lead.ask([ONE, TWO]);
    expect(codes).toEqual([]);
    expect(data.customersByPhone).toMatchObject([
      { customer: { id: '2' }, phoneNumber: { simSwappedWithin: false } },
      { customer: { id: '1001' }, phoneNumber: { simSwappedWithin: true } },
    ]);
    expect(headers.get('ratelimit-policy')).toBe(
      '"numbers";q=25000;w=3600, "lookups";q=100000;w=3600',
    );
    expect(headers.get('ratelimit')).toMatch(
      /^"numbers";r=\d+;t=\d+, "lookups";r=\d+;t=\d+;counted=[1-9]$/,
    );
  });

  it('not at the gateway: it takes the desk’s word for nothing', async () => {
    for (const authorization of [undefined, `Bearer ${lead.session.csrfToken}`]) {
      const reply = await fetch(stack.gatewayUrl, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(authorization === undefined ? {} : { authorization }),
          cookie: lead.browser.cookieHeader,
        },
        body: JSON.stringify({ query: BY_PHONE, variables: { numbers: [ONE] } }),
      });
      const text = await reply.text();
      expect(text).toContain('UNAUTHENTICATED');
      // Not even whose number it is.
      expect(text).not.toMatch(/"data"|Grace/);
    }
  });
});

describe('the purpose', () => {
  it('is chosen, and is in the audit log', async () => {
    const linesBefore = audited().length;
    await lead.ask(['+447700900007'], { headers: { 'x-purpose': 'account-recovery' } });
    const lines = auditedSince(linesBefore);
    expect(lines.length).toBeGreaterThanOrEqual(2);
    for (const line of lines) {
      expect(line).toMatchObject({
        purpose: 'account-recovery',
        caller: { issuer: stack.issuer, client: 'risk-desk' },
      });
    }
  });

  it.each([
    ['none', undefined],
    ['one that is not known', 'curiosity'],
    ['two', 'account-recovery, complaint'],
    ['nothing', ''],
  ])('%s is refused before anything is asked', async (_, purpose) => {
    const before = await operatorCosts();
    const reply = await lead.ask([ONE], { headers: { 'x-purpose': purpose } });
    expect([reply.status, reply.codes]).toEqual([400, ['BAD_USER_INPUT']]);
    expect(await operatorCosts()).toEqual(before);
  });
});

describe('a number whose owner is asked', () => {
  /** The owner consents after two seconds. */
  const BY_CONSENT = '+447700900050';
  const STANDING = `query ($numbers: [ID!]!) {
    customersByPhone(e164s: $numbers) { phoneNumber { simSwapConsent { state } } }
  }`;

  it('is distinguished from others without a prompt, and is answered when the owner agrees', async () => {
    const variables = { numbers: [ONE, BY_CONSENT, TWO] };
    const standing = await lead.post(JSON.stringify({ query: STANDING, variables }));
    expect(standing.codes).toEqual([]);
    expect(
      (standing.data.customersByPhone as { phoneNumber: unknown }[]).map((one) => one.phoneNumber),
    ).toEqual(
      ['NOT_NEEDED', 'NOT_ASKED', 'NOT_NEEDED'].map((state) => ({ simSwapConsent: { state } })),
    );
    expect(await prompts()).toBe(0);

    const first = await analyst.ask([BY_CONSENT]);
    expect(new Set(first.codes)).toEqual(new Set(['CONSENT_PENDING']));
    await vi.waitFor(
      async () => {
        const { codes, data } = await analyst.ask([BY_CONSENT]);
        expect(codes).toEqual([]);
        expect(data.customersByPhone[0].phoneNumber.simSwappedWithin).toBe(false);
      },
      { timeout: 20_000, interval: 500 },
    );
    expect(await prompts()).toBe(1);
  });
});

describe('a page that cancels', () => {
  it('ends the queries of the service: the line after it is written at once', async () => {
    const linesBefore = audited().length;
    const page = new AbortController();
    const asked = lead.ask([SILENT], { signal: page.signal });
    const phases = (): unknown[] => auditedSince(linesBefore).map(({ audit }) => audit);
    await vi.waitFor(() => expect(phases()).toEqual(['before']), { timeout: 15_000 });
    const cancelledAtMs = performance.now();
    page.abort();
    await expect(asked).rejects.toThrow('aborted');
    await vi.waitFor(() => expect(phases()).toEqual(['before', 'after']), { timeout: 15_000 });
    // By itself the lookup would go on for five seconds, and the request for ten.
    expect(performance.now() - cancelledAtMs).toBeLessThan(4000);
  });
});

describe('a request that does not come from the page', () => {
  it.each([
    ['without the token', { 'x-csrf-token': undefined }],
    ['with an empty token', { 'x-csrf-token': '' }],
    ['with a token of one’s own', { 'x-csrf-token': 'x'.repeat(43) }],
    ['with the token twice', { 'x-csrf-token': 'TWICE' }],
    ['with a token of another session', { 'x-csrf-token': 'OTHER' }],
    ['from another origin', { origin: 'https://evil.example' }],
    ['from another port of this machine', { origin: 'http://127.0.0.1:1' }],
    ['from no origin that has a name', { origin: 'null' }],
    ['from another site, as the browser says', { 'sec-fetch-site': 'cross-site' }],
    ['from another port, as the browser says', { 'sec-fetch-site': 'same-site' }],
  ])('%s is refused', async (_, changed) => {
    const named: Record<string, string> = {
      TWICE: `${lead.session.csrfToken}, ${lead.session.csrfToken}`,
      OTHER: analyst.session.csrfToken,
    };
    const headers: Record<string, string | undefined> = { ...changed };
    const token = headers['x-csrf-token'];
    if (token !== undefined) headers['x-csrf-token'] = named[token] ?? token;
    const before = await operatorCosts();
    const { status, codes } = await lead.ask([ONE], { headers });
    expect([status, codes]).toEqual([403, ['FORBIDDEN']]);
    const signOut = await lead.browser.send(`${stack.url}/sign-out`, {
      method: 'POST',
      headers: Object.entries({ 'x-csrf-token': lead.session.csrfToken, ...headers }).flatMap(
        ([name, value]) => (value === undefined ? [] : [[name, value] as [string, string]]),
      ),
    });
    expect(signOut.status).toBe(403);
    expect(await operatorCosts()).toEqual(before);
  });

  it('as a form is refused: it can carry no JSON', async () => {
    const reply = await lead.ask([ONE], {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(reply.status).toBe(415);
  });

  it.each([
    ['no cookie', ''],
    ['a session id of one’s own', `desk-session=${'A'.repeat(43)}`],
    ['a very long one', `desk-session=${'A'.repeat(8000)}`],
    ['an id that is part of one', 'desk-session=SHORT'],
    ['two ids', 'desk-session=MINE; desk-session=x'],
    ['the id under another name', 'Desk-Session=MINE'],
  ])('with %s has no session', async (_, cookies) => {
    const mine = lead.browser.cookies.get('desk-session') ?? '';
    const cookie = cookies.replace('MINE', mine).replace('SHORT', mine.slice(0, -1));
    expect((await get('/session', { cookie })).text).toBe('null');
  });

  it('under the name of another host gets nothing, signed in or not', async () => {
    for (const host of ['evil.example', 'localhost:1', '127.0.0.1']) {
      const reply = await get('/session', { host, cookie: lead.browser.cookieHeader });
      expect(reply.status).toBe(421);
      expect(reply.text).not.toContain('csrf');
    }
  });
});

describe('a page that asks too much at a time', () => {
  it('gets a message, and continues when something has ended', async () => {
    const person = await SignedIn.as(stack.url, stack.people.analyst);
    const pages = new AbortController();
    const pending = Array.from({ length: 16 }, () => person.ask([SILENT], pages));
    const ended = Promise.allSettled(pending);
    await vi.waitFor(
      async () => expect((await person.ask([ONE])).codes).toEqual(['RATE_LIMITED']),
      { timeout: 20_000 },
    );
    // Another session of the same person has no further requests, one of another person has its own.
    const again = await SignedIn.as(stack.url, stack.people.analyst);
    expect((await again.ask([ONE])).codes).toEqual(['RATE_LIMITED']);
    expect((await lead.ask([ONE])).codes).toEqual([]);
    pages.abort();
    await ended;
    await expect.poll(async () => (await person.ask([ONE])).codes).toEqual([]);
  });
});

describe('a person without the batch scope', () => {
  const lines = Array.from({ length: 6 }, (_, n) => `+44770090051${n}`);

  it('has a quota of single cases; repeated questions, and those of a lead, are not counted', async () => {
    await using small = await startStack({
      desk: { pageDirectory: emptyPage(), singleQuestionsPerHour: 5 },
    });
    const person = await SignedIn.as(small.url, small.people.analyst);
    const boss = await SignedIn.as(small.url, small.people.lead);
    for (const line of lines.slice(0, 5)) expect((await person.ask([line])).codes).toEqual([]);
    expect((await person.ask([lines[0] ?? ''])).codes).toEqual([]);

    // Nor does a further sign-in help.
    for (const one of [person, await SignedIn.as(small.url, small.people.analyst)]) {
      const { status, codes, headers } = await one.ask([lines[5] ?? '']);
      expect([status, codes]).toEqual([429, ['RATE_LIMITED']]);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(3500);
    }
    for (const line of lines) expect((await boss.ask([line])).codes).toEqual([]);
  });
});

describe('a body', () => {
  it('that is too long is refused, whether it says so or not, and its sender can read why', async () => {
    const long = 'x'.repeat(256 * 1024);
    const chunks = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let n = 0; n < 5; n += 1) controller.enqueue(new TextEncoder().encode(long));
        controller.close();
      },
    });
    for (const body of [JSON.stringify({ query: long }), chunks]) {
      const { status, codes } = await lead.post(body);
      expect([status, codes]).toEqual([413, ['BAD_REQUEST']]);
    }
  });

  it('goes to the gateway as it is, and its refusal comes back', async () => {
    for (const body of ['{', '[]', '{"query":"{ nothing }"}', '{"query":"mutation { a }"}']) {
      const reply = await lead.post(body);
      expect(reply.status).toBeGreaterThanOrEqual(200);
      expect(reply.text).toContain('"errors"');
      expect(reply.text).not.toMatch(/^\s+at |node_modules/m);
    }
  });
});

describe('what the browser sends to the desk', () => {
  it('is not what the gateway hears: no cookie, no authorization, no header of its own', async () => {
    const reply = await analyst.ask([ONE, TWO], {
      headers: {
        authorization: 'Bearer forged',
        'x-router-secret': 'forged',
        'x-forwarded-for': '1.2.3.4',
      },
    });
    // With the analyst's own token, and not with the one that was sent along.
    expect(new Set(reply.codes)).toEqual(new Set(['FORBIDDEN']));
  });

  it.each([
    ['two lengths', ['Content-Length: 4', 'Content-Length: 40']],
    ['a length and chunks', ['Content-Length: 4', 'Transfer-Encoding: chunked']],
    ['chunks that are none', ['Transfer-Encoding: xchunked']],
    ['a header over two lines', ['X-Purpose: complaint', ' GET /session HTTP/1.1']],
    ['a header with a bare line feed', ['X-Purpose: complaint\nX-Csrf-Token: x']],
  ])('with %s is refused as a whole', async (_, headers) => {
    const reply = await sendRaw(
      ['POST /graphql HTTP/1.1', `Host: ${new URL(stack.url).host}`, ...headers],
      '0\r\n\r\nGET /session HTTP/1.1\r\nHost: x\r\n\r\n',
    );
    const statuses = reply.match(/HTTP\/1\.1 \d+/g) ?? [];
    expect(statuses.length).toBeLessThanOrEqual(1);
    expect(reply).not.toMatch(/HTTP\/1\.1 [23]/);
  });
});

describe('the page', () => {
  it('is served with its files', async () => {
    const page = await get('/');
    expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    const script = await get('/assets/app-a1b2c3.js');
    expect(script.headers['cache-control']).toContain('immutable');
    expect((await get('/', {}, 'HEAD')).text).toBe('');
  });

  it.each([
    '/../package.json',
    '/..%2fpackage.json',
    '/%2e%2e/%2e%2e/package.json',
    '/assets/../../package.json',
    '/assets/..\\..\\package.json',
    '//etc/passwd',
    '/etc/passwd',
    '/index.html%00.js',
    '/assets',
    '/assets/',
    '/__proto__',
    '/constructor',
    'http://evil.example/',
    '*',
  ])('has no file %s', async (path) => {
    const reply = await get(path);
    expect(reply.status).toBe(404);
    expect(reply.text).not.toContain('risk-desk');
  });

  it.each(['PUT', 'DELETE', 'OPTIONS', 'PATCH'])('takes no %s', async (method) => {
    const reply = await get('/session', { cookie: lead.browser.cookieHeader }, method);
    expect(reply.status).toBe(405);
  });

  it.each(['/', '/session', '/sign-in', '/callback', '/nowhere', '/assets/app-a1b2c3.js'])(
    '%s comes with a strict policy, and is no other site’s to read',
    async (path) => {
      const { headers } = await get(path);
      const policy = String(headers['content-security-policy']);
      expect(policy).toMatch(/default-src 'none'/);
      expect(policy).toMatch(/script-src 'self';/);
      expect(policy).toMatch(/style-src 'self';/);
      expect(policy).toMatch(/frame-ancestors 'none'/);
      expect(policy).not.toMatch(/unsafe|\*|https?:/);
      expect(headers).toMatchObject({
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
      });
      expect(headers).not.toHaveProperty('access-control-allow-origin');
      const forEver = 'public, max-age=31536000, immutable';
      const expected = path.startsWith('/assets/') ? forEver : 'no-store';
      expect(headers['cache-control']).toBe(expected);
    },
  );
});

function changing(name: string, value: string | undefined): (url: URL) => URL {
  return (url) => {
    const changed = new URL(url);
    if (value === undefined) changed.searchParams.delete(name);
    else changed.searchParams.set(name, value);
    return changed;
  };
}
