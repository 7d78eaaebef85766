import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DemoPerson } from '../../demo/people.ts';

/** A folder with an empty page: these tests are about the server. */
export function emptyPage(): string {
  const directory = mkdtempSync(join(tmpdir(), 'risk-desk-page-'));
  mkdirSync(join(directory, 'assets'));
  writeFileSync(join(directory, 'index.html'), '<!doctype html><title>Risk desk</title>');
  writeFileSync(join(directory, 'assets', 'app-a1b2c3.js'), '// the app\n');
  return directory;
}

export interface SessionTold {
  readonly id: string;
  readonly name: string;
  readonly roles: readonly string[];
  readonly mayBatch: boolean;
  readonly purposes: readonly { readonly id: string; readonly label: string }[];
  readonly csrfToken: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- a test reads into it as deep as it likes
  readonly data?: any;
  readonly codes: readonly (string | undefined)[];
}

export interface AskOptions {
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal;
}

/**
 * As much of a browser as the sign-in needs: cookies, redirects that are followed one by one. Like a
 * browser's, its cookies are for a host, with any port.
 */
export class HttpBrowser {
  readonly cookies = new Map<string, string>();
  /** Every address that it was sent to, in turn. */
  readonly visited: string[] = [];

  get cookieHeader(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  async send(url: string, request: RequestInit = {}): Promise<Response> {
    this.visited.push(url);
    const headers = new Headers(request.headers);
    if (this.cookies.size > 0) headers.set('cookie', this.cookieHeader);
    const response = await fetch(url, { ...request, headers, redirect: 'manual' });
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = ''] = cookie.split(';', 1);
      const equals = pair.indexOf('=');
      const [name, value] = [pair.slice(0, equals), pair.slice(equals + 1)];
      if (value === '') this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return response;
  }

  /** Goes to an address, and on to where it leads; stops before addresses that `stopAt` names. */
  async visit(url: string, request: RequestInit = {}, stopAt?: RegExp): Promise<Response> {
    let response = await this.send(url, request);
    let at = url;
    for (;;) {
      const location = response.headers.get('location');
      if (location === null) return response;
      at = new URL(location, at).href;
      if (stopAt?.test(at) === true) {
        this.visited.push(at);
        return response;
      }
      response = await this.send(at);
    }
  }

  /** Signs in, up to the desk's page or, with `stopAt`, up to that address. */
  async signIn(
    deskUrl: string,
    { login, password }: Pick<DemoPerson, 'login' | 'password'>,
    stopAt?: RegExp,
  ): Promise<Response> {
    const form = await this.visit(`${deskUrl}/sign-in`);
    const [, action = ''] = /action="([^"]+)"/.exec(await form.text()) ?? [];
    const provider = this.visited.at(-1) ?? '';
    const body = new URLSearchParams({ login, password });
    return this.visit(new URL(action, provider).href, { method: 'POST', body }, stopAt);
  }

  async session(deskUrl: string): Promise<SessionTold> {
    const session = await this.#session(deskUrl);
    if (session === null) throw new Error('There is no session.');
    return session;
  }

  async isSignedIn(deskUrl: string): Promise<boolean> {
    return (await this.#session(deskUrl)) !== null;
  }

  async #session(deskUrl: string): Promise<SessionTold | null> {
    const response = await this.send(`${deskUrl}/session`);
    return (await response.json()) as SessionTold | null;
  }
}

/** A person who has signed in, and queries as the page does. */
export class SignedIn {
  readonly browser: HttpBrowser;
  readonly session: SessionTold;
  readonly #url: string;

  private constructor(url: string, browser: HttpBrowser, session: SessionTold) {
    this.#url = url;
    this.browser = browser;
    this.session = session;
  }

  static async as(url: string, person: Pick<DemoPerson, 'login' | 'password'>): Promise<SignedIn> {
    const browser = new HttpBrowser();
    await browser.signIn(url, person);
    return new SignedIn(url, browser, await browser.session(url));
  }

  /** Sends a body to /graphql with everything that the page sends, or what a test says instead. */
  async post(body: BodyInit, { headers = {}, signal }: AskOptions = {}): Promise<Answer> {
    const all: Record<string, string | undefined> = {
      'content-type': 'application/json',
      'x-csrf-token': this.session.csrfToken,
      'x-purpose': 'fraud-prevention',
      ...headers,
    };
    const sent = Object.entries(all).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as [string, string]],
    );
    const response = await this.browser.send(`${this.#url}/graphql`, {
      method: 'POST',
      headers: sent,
      body,
      signal: signal ?? null,
      ...(typeof body === 'string' ? {} : { duplex: 'half' }),
    });
    const text = await response.text();
    const { data, errors = [] } = JSON.parse(text) as {
      data?: unknown;
      errors?: readonly { extensions?: { code?: string } }[];
    };
    const codes = errors.map(({ extensions }) => extensions?.code);
    return { status: response.status, headers: response.headers, text, data, codes };
  }

  ask(numbers: readonly string[], options?: AskOptions): Promise<Answer> {
    return this.post(JSON.stringify({ query: BY_PHONE, variables: { numbers } }), options);
  }
}

export const BY_PHONE = `query ($numbers: [ID!]!) {
  customersByPhone(e164s: $numbers) {
    customer { id name }
    phoneNumber { e164 lastSimSwap simSwappedWithin(maxAgeHours: 240) }
  }
}`;
