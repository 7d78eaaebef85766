import { channel, tracingChannel } from 'node:diagnostics_channel';
import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lookupChannel, traced, type LookupResult } from '../src/log/diagnostics.ts';
import { DEMO_CLIENT } from '../simulator/simulator.ts';
import { WiredOperator } from './wiredOperator.ts';
import { ServerProcess } from './endToEnd/serverProcess.ts';
import { answerJson } from './http/recordingServer.ts';
import { startService, startSimulated } from './service.ts';
import { TemporaryFiles } from './temporary.ts';

const TRACING = ['request', 'plan', 'consent', 'token', 'lookup', 'exchange'] as const;
const EVENTS = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const;

interface Published {
  readonly name: string;
  readonly event: string;
  readonly message: object;
}

class Subscriber {
  readonly published: Published[] = [];
  readonly #undo: (() => void)[] = [];

  constructor() {
    for (const name of TRACING) {
      for (const event of EVENTS) this.#listen(`tracing:sim-swap:${name}:${event}`, name, event);
    }
    this.#listen('sim-swap:circuit', 'circuit', 'published');
  }

  /** The messages of work that is over, in the order in which it ended. */
  ended(name: string): readonly object[] {
    return this.published
      .filter((one) => one.name === name && one.event === 'asyncEnd')
      .map(({ message }) => message);
  }

  [Symbol.dispose](): void {
    for (const undo of this.#undo) undo();
  }

  #listen(full: string, name: string, event: string): void {
    const hear = (message: unknown): void => {
      if (typeof message !== 'object' || message === null) throw new TypeError('No message.');
      this.published.push({ name, event, message });
    };
    channel(full).subscribe(hear);
    this.#undo.push(() => channel(full).unsubscribe(hear));
  }
}

/** What the service sends over the wire and must not publish: tokens, client authentication, numbers. */
class WireSecrets {
  readonly found = new Set<string>();
  readonly #hear = (message: unknown): void => {
    const { request } = message as { request: { headers: string | string[]; body: unknown } };
    const headers = [request.headers].flat().join('\n');
    for (const [, secret = ''] of headers.matchAll(/\b(?:Basic|Bearer)\s+(\S+)/g)) {
      this.found.add(secret);
    }
    const body = new URLSearchParams(String(request.body));
    for (const name of ['auth_req_id', 'client_assertion', 'username', 'login_hint']) {
      const value = body.get(name);
      if (value !== null) this.found.add(value);
    }
  };

  constructor() {
    channel('undici:request:create').subscribe(this.#hear);
  }

  [Symbol.dispose](): void {
    channel('undici:request:create').unsubscribe(this.#hear);
  }
}

/** Every string, number and name in a message, however deep, those that are not enumerable included. */
function textsIn(value: unknown, seen = new Set<unknown>()): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number' || typeof value === 'bigint') return [String(value)];
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return [];
  if (seen.has(value)) return [];
  seen.add(value);
  const inside =
    value instanceof Map || value instanceof Set ? [...value].flatMap((one) => [one].flat()) : [];
  const own = Reflect.ownKeys(value).flatMap((key) => [
    String(key),
    Reflect.get(value, key) as unknown,
  ]);
  return [...inside, ...own].flatMap((one) => textsIn(one, seen));
}

let subscriber: Subscriber;
beforeEach(() => {
  subscriber = new Subscriber();
});
afterEach(() => {
  subscriber[Symbol.dispose]();
});

const NEVER_SWAPPED = '+447700900004';
const FIELDS = 'lastSimSwap simSwappedWithin(maxAgeHours: 24) simSwapConsent { state }';
const ASK = `query ($numbers: [ID!]!) { phoneNumbers(e164s: $numbers) { ${FIELDS} } }`;

describe('no message has a number, a token, a secret or an answer', () => {
  it.each(['2-legged', '3-legged'])(
    '%s, over every test number of the simulator',
    async (flow) => {
      using wire = new WireSecrets();
      await using service = await startSimulated({
        OPERATOR_FLOW: flow,
        OPERATOR_TIMEOUT_MS: '500',
        CONSENT_WAIT_MS: '2500',
        REQUEST_TIMEOUT_MS: '5000',
      });
      const numbers = Array.from({ length: 60 }, (_, index) => `+4477009000${10 + index}`);
      for (let index = 0; index < numbers.length; index += 20) {
        const variables = { numbers: [NEVER_SWAPPED, ...numbers.slice(index, index + 20)] };
        // A number where a correlator belongs is a caller's mistake, and not to be repeated.
        await service.ask(ASK, variables, { 'x-correlator': `call-${NEVER_SWAPPED}` });
      }

      const texts = [...new Set(subscriber.published.flatMap(({ message }) => textsIn(message)))];
      // Fewer where a circuit opens, on a machine that has much to do.
      expect(texts.length).toBeGreaterThan(50);
      expect(wire.found.size).toBeGreaterThan(20);
      const secrets = [...wire.found, DEMO_CLIENT.clientSecret];
      expect(texts.filter((text) => secrets.some((secret) => text.includes(secret)))).toEqual([]);
      expect(texts.filter((text) => /7700\D?900/.test(text))).toEqual([]);
      expect(texts.filter((text) => /latestSimChange|swapped|^true$|^false$/.test(text))).toEqual(
        [],
      );
      expect(texts.filter((text) => /\d{4}-\d{2}-\d{2}T/.test(text))).toEqual([]);
      const names = new Set(subscriber.published.map(({ name }) => name));
      // Of an operator that answers late, on a machine that has much to do.
      names.delete('circuit');
      const expected = TRACING.filter((name) => name !== 'consent' || flow === '3-legged');
      expect(names).toEqual(new Set(expected));
      expect(subscriber.published.filter(({ event }) => event === 'error')).toEqual([]);
    },
    60_000,
  );
});

const CORRELATOR = expect.stringMatching(/^trace-\w{12}$/) as string;
const EXCHANGE_CORRELATOR = expect.stringMatching(/^trace-\w{12}-\d+$/) as string;
const TRACE = { 'x-correlator': 'trace' };
const CHECK =
  'query ($number: ID!) { phoneNumber(e164: $number) { simSwappedWithin(maxAgeHours: 24) } }';

describe('a lookup is published', () => {
  it('2-legged: its plan, its token, the lookup and both exchanges', async () => {
    await using operator = await WiredOperator.start();
    await using service = await startService(operator.url, { OPERATOR_FLOW: '2-legged' });
    await service.ask(CHECK, { number: NEVER_SWAPPED }, TRACE);

    const planned = { outcome: 'planned', facts: 1, deduced: 0, failures: [] };
    expect(subscriber.ended('plan')).toEqual([
      { correlator: CORRELATOR, questions: 1, result: planned },
    ]);
    const of = { operator: 'operator', correlator: CORRELATOR, operation: 'check' };
    expect(subscriber.ended('token')).toEqual([
      { ...of, grant: 'client_credentials', result: { outcome: 'issued' } },
    ]);
    expect(subscriber.ended('lookup')).toEqual([
      { ...of, maxAgeHours: 24, result: { outcome: 'answered', attempts: 1 } },
    ]);
    const replied = {
      operator: 'operator',
      method: 'POST',
      correlator: EXCHANGE_CORRELATOR,
      isRetry: false,
      addHeader: expect.any(Function) as () => void,
      result: { outcome: 'replied', status: 200 },
    };
    const { origin } = new URL(operator.url);
    expect(subscriber.ended('exchange')).toEqual([
      { endpoint: 'token', url: `${operator.url}/oauth/v1/token`, ...replied },
      { endpoint: 'check', url: `${origin}${operator.lookups[0]?.path}`, ...replied },
    ]);
    expect(subscriber.ended('request')).toEqual([
      {
        correlator: CORRELATOR,
        method: 'POST',
        parent: undefined,
        result: { outcome: 'replied', status: 200, code: 'ok' },
      },
    ]);
    expect(subscriber.ended('consent')).toEqual([]);
  });

  it('3-legged: the wait for the owner and the poll as well', async () => {
    await using operator = await WiredOperator.start();
    await using service = await startService(operator.url, { OPERATOR_FLOW: '3-legged' });
    await service.ask(CHECK, { number: NEVER_SWAPPED }, TRACE);

    const of = { operator: 'operator', correlator: CORRELATOR, operation: 'check' };
    expect(subscriber.ended('consent')).toEqual([{ ...of, result: { outcome: 'answered' } }]);
    expect(subscriber.ended('token')).toMatchObject([
      { grant: 'ciba', operation: 'check', result: { outcome: 'issued' } },
    ]);
    expect(subscriber.ended('exchange')).toMatchObject([
      { endpoint: 'bc-authorize' },
      { endpoint: 'CIBA token' },
      { endpoint: 'check' },
    ]);
  });

  it('that fails: with its code and what became of its exchange', async () => {
    await using operator = await WiredOperator.start({
      lookUp: ({ connection }) => connection.socket.resetAndDestroy(),
    });
    await using service = await startService(operator.url, { OPERATOR_FLOW: '2-legged' });
    await service.ask(CHECK, { number: NEVER_SWAPPED }, TRACE);

    expect(subscriber.ended('plan')).toMatchObject([
      { result: { facts: 0, failures: ['OPERATOR_UNAVAILABLE'] } },
    ]);
    expect(subscriber.ended('lookup')).toMatchObject([
      { result: { outcome: 'OPERATOR_UNAVAILABLE', attempts: 1 } },
    ]);
    expect(subscriber.ended('exchange').at(-1)).toMatchObject({
      result: { outcome: 'connection', sent: true, detail: 'ECONNRESET' },
    });
  });

  it('inside the stores that are bound to what it belongs to', async () => {
    const { AsyncLocalStorage } = await import('node:async_hooks');
    const store = new AsyncLocalStorage<string>();
    const lookups = tracingChannel('sim-swap:lookup');
    lookups.start.bindStore(store, () => 'in a lookup');
    const found: (string | undefined)[] = [];
    const hear = (): void => void found.push(store.getStore());
    const exchanges = tracingChannel('sim-swap:exchange');
    exchanges.start.subscribe(hear);
    try {
      await using operator = await WiredOperator.start();
      await using service = await startService(operator.url, { OPERATOR_FLOW: '2-legged' });
      await service.ask(CHECK, { number: NEVER_SWAPPED });
    } finally {
      exchanges.start.unsubscribe(hear);
      lookups.start.unbindStore(store);
    }
    expect(found).toEqual([undefined, 'in a lookup']);
  });
});

it('the circuit of an endpoint is published when it opens', async () => {
  await using operator = await WiredOperator.start({
    token: (received, response) => answerJson(received, response, {}, 503),
  });
  await using service = await startService(operator.url, { OPERATOR_FLOW: '2-legged' });
  const numbers = Array.from({ length: 30 }, (_, index) => `+4477009003${10 + index}`);
  await service.ask(ASK, { numbers });
  expect(
    subscriber.published.filter(({ name }) => name === 'circuit').map(({ message }) => message),
  ).toEqual([{ operator: 'operator', endpoint: 'token', state: 'open' }]);
});

const ANSWERED: LookupResult = { outcome: 'answered', attempts: 1 };

describe('work that breaks', () => {
  const message = { operator: 'operator', correlator: 'trace', operation: 'check' } as const;
  const defect = new TypeError(`Unexpected token in ${NEVER_SWAPPED}`);

  const breakAtOnce = (): never => {
    throw defect;
  };

  it.each([
    ['later', () => Promise.reject(defect)],
    ['at once', breakAtOnce],
  ])('%s rejects with its own error, of which nothing is published', async (_, work) => {
    const outcome = traced(lookupChannel, { ...message }, work, () => ANSWERED);
    await expect(outcome).rejects.toBe(defect);
    expect(subscriber.ended('lookup')).toEqual([{ ...message, result: { outcome: 'broken' } }]);
    expect(subscriber.published.filter(({ event }) => event === 'error')).toEqual([]);
  });
});

describe('docs/diagnostics.md', () => {
  const page = new URL('../docs/diagnostics.md', import.meta.url);

  it('names every channel, and no other', async () => {
    const headings = (await readFile(page, 'utf8')).matchAll(/^### `sim-swap:(\w+)`$/gm);
    const names = Array.from(headings, ([, name]) => name);
    expect(names).toHaveLength(TRACING.length + 3);
    expect(new Set(names)).toEqual(new Set([...TRACING, 'circuit', 'quota', 'store']));
  });

  it('has an example that runs before the service and sees its exchanges', async () => {
    const [, example = ''] = /```mjs\n(.*?)```/s.exec(await readFile(page, 'utf8')) ?? [];
    const files = new TemporaryFiles();
    const file = files.write('observe.mjs', example);
    await using operator = await WiredOperator.start();
    await using server = await ServerProcess.start(operator.url, {
      NODE_OPTIONS: `--import ${pathToFileURL(file).href}`,
    });
    await fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: CHECK, variables: { number: NEVER_SWAPPED } }),
    });
    await expect.poll(() => server.logged('exchange').length, { timeout: 10_000 }).toBe(2);
    expect(server.logged('exchange')).toMatchObject([
      { endpoint: 'token', outcome: 'replied', status: 200, ms: expect.any(Number) as number },
      { endpoint: 'check', outcome: 'replied', status: 200 },
    ]);
  }, 30_000);
});
