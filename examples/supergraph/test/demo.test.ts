import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** The port that `npm start` listens on, and the demo's gateway where it is free. */
const PORT_OF_NPM_START = 4000;

/** `npm run supergraph` beside a service that has the port already. */
class Demo {
  printed = '';
  readonly #child = spawn('npm', ['run', 'supergraph'], {
    cwd: ROOT,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  readonly #ended = once(this.#child, 'close');

  constructor() {
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (this.printed += text));
    }
  }

  /** Resolves when the demo says how to end it: everything serves by then. */
  async started(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = (): void => {
      if (this.printed.includes('Ctrl-C')) resolve();
    };
    this.#child.stdout.on('data', look);
    await Promise.race([
      promise,
      this.#ended.then(() => Promise.reject(new Error(`The demo ended early:\n${this.printed}`))),
    ]);
  }

  url(name: string): string {
    const url = new RegExp(`^${name} +(http://\\S+)`, 'm').exec(this.printed)?.[1];
    if (url === undefined) throw new Error(`The demo prints no address of the ${name}.`);
    return url;
  }

  async stop(): Promise<void> {
    if (this.#child.pid !== undefined) process.kill(-this.#child.pid, 'SIGTERM');
    await this.#ended;
  }
}

const holder = createServer();
const demo = new Demo();

beforeAll(async () => {
  // Where another program has the port already, it is taken as well.
  holder.on('error', () => undefined);
  holder.listen(PORT_OF_NPM_START, '127.0.0.1');
  await demo.started();
});
afterAll(async () => {
  await demo.stop();
  holder.close();
});

describe('npm run supergraph beside npm start', () => {
  it('takes a free port, and says so', async () => {
    expect(demo.printed).toMatch(/Port 4000 is in use: the gateway listens on port \d+\./);
    expect(new URL(demo.url('gateway')).port).not.toBe(String(PORT_OF_NPM_START));
    const reply = await fetch(demo.url('gateway'), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ customer(id: "2") { phoneNumber { simSwappedWithin } } }' }),
    });
    expect(await reply.json()).toEqual({
      data: { customer: { phoneNumber: { simSwappedWithin: false } } },
    });
  });

  it('prints one query that three operators answer, each in its own way', async () => {
    const [, query = ''] = /-d '(\{.*\})'$/m.exec(demo.printed) ?? [];

    const reply = await fetch(demo.url('gateway'), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: query,
    });

    const { data, errors } = (await reply.json()) as {
      data: { customersByPhone: { phoneNumber: { simSwappedWithin: boolean } }[] };
      errors?: unknown;
    };
    expect(errors).toBeUndefined();
    expect(data.customersByPhone.map((one) => one.phoneNumber.simSwappedWithin)).toEqual([
      true,
      false,
      true,
      false,
      true,
      false,
    ]);
    const seen = async (operator: string): Promise<object> =>
      (await fetch(demo.url(operator))).json() as Promise<object>;
    const refused = { refusedLookups: 0, misusedTokens: 0, reusedTokens: 0 };
    // The first test has looked up one of the two at Vodafone already.
    expect(await seen('vodafone')).toMatchObject({ lookups: 4, prompts: 4, ...refused });
    expect(await seen('claro')).toMatchObject({ lookups: 3, tokens: 3, prompts: 0, ...refused });
    expect(await seen('aggregator')).toMatchObject({
      lookups: 3,
      tokens: 1,
      prompts: 0,
      ...refused,
    });
  });

  it('prints no stack', () => {
    expect(demo.printed).not.toMatch(/^ +at /m);
  });
});

describe.each(['gateway', 'accounts subgraph', 'SIM swap subgraph'])(
  'the page of the %s',
  (name) => {
    it('needs nothing from the internet', async () => {
      const page = await fetch(demo.url(name), { headers: { accept: 'text/html' } });
      expect(page.headers.get('content-type')).toMatch('text/html');
      const html = await page.text();
      expect(html.includes('GraphiQL')).toBe(true);
      // A page of nine megabytes: only what is before its scripts is worth printing.
      const [head = ''] = html.split('<script', 1);
      const policy = page.headers.get('content-security-policy') ?? head.slice(0, 1000);
      expect(policy).toMatch(/default-src 'none';.* connect-src 'self'/);
    });
  },
);

it('the address of the gateway without its path leads to the page', async () => {
  const { origin } = new URL(demo.url('gateway'));
  const page = await fetch(origin, { headers: { accept: 'text/html' } });
  expect(page.url).toBe(demo.url('gateway'));
  expect(page.status).toBe(200);
});
