import { channel } from 'node:diagnostics_channel';
import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lookupChannel, traced, type LookupResult } from '../src/log/diagnostics.ts';
import { leaksIn, NUMBER_MARK, SECRET_MARK } from './canary/marks.ts';
import { nastily } from './canary/nastyOperator.ts';
import { WiredOperator } from './support/wiredOperator.ts';
import { ServerProcess } from './endToEnd/serverProcess.ts';
import { answerJson } from './wire/recordingServer.ts';
import { Random } from './support/random.ts';
import { startService } from './support/service.ts';
import { TemporaryFiles } from './support/temporary.ts';

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

  /** The messages of work that has ended, in its order. */
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

it.each(['2-legged', '3-legged'])(
  'no message has a number, a token, a secret or an answer, whatever the operator says: %s',
  async (flow) => {
    const script = nastily(new Random(20), flow === '2-legged');
    await using operator = await WiredOperator.start(script);
    await using service = await startService(operator.url, {
      OPERATOR_FLOW: flow,
      OPERATOR_CLIENT_SECRET: `${SECRET_MARK}-client-secret`,
      OPERATOR_TIMEOUT_MS: '500',
      CONSENT_WAIT_MS: '1500',
    });
    for (let first = 0; first < 100; first += 20) {
      const numbers = Array.from({ length: 20 }, (_, n) => `+${NUMBER_MARK}${100 + first + n}`);
      await service.ask(ASK, { numbers }, { 'x-correlator': `call-${numbers[0]}` });
    }

    // With names of members, and members that are not enumerable.
    const texts = subscriber.published.map(({ message }) =>
      inspect(message, { depth: Infinity, showHidden: true, breakLength: Infinity }),
    );
    expect(texts.length).toBeGreaterThan(200);
    expect(texts.flatMap((text) => leaksIn(text))).toEqual([]);
    const answer = /latestSimChange|swapped|'true'|'false'|\d{4}-\d\d-\d\dT/;
    expect(texts.filter((text) => answer.test(text))).toEqual([]);
    const names = new Set(subscriber.published.map(({ name }) => name));
    const expected = TRACING.filter((name) => name !== 'consent' || flow === '3-legged');
    expect([...names]).toEqual(expect.arrayContaining(expected));
    expect(subscriber.published.filter(({ event }) => event === 'error')).toEqual([]);
  },
  60_000,
);

const CORRELATOR = expect.stringMatching(/^trace-\w{12}$/) as string;
const EXCHANGE_CORRELATOR = expect.stringMatching(/^trace-\w{12}-\d+$/) as string;
const TRACE = { 'x-correlator': 'trace' };
const CHECK =
  'query ($number: ID!) { phoneNumber(e164: $number) { simSwappedWithin(maxAgeHours: 24) } }';

const OF_CHECK = { operator: 'operator', correlator: CORRELATOR, operation: 'check' };

// What else is published, and inside what: tracing/tracing.test.ts, whose spans are made of it.
describe('a lookup is published', () => {
  it('with its request, its plan, its token and both exchanges', async () => {
    await using operator = await WiredOperator.start();
    await using service = await startService(operator.url, { OPERATOR_FLOW: '2-legged' });
    await service.ask(CHECK, { number: NEVER_SWAPPED }, TRACE);
    const { url, lookups } = operator;
    const checkPath = lookups[0]?.path;
    const planned = { outcome: 'planned', facts: 1, deduced: 0, failures: [] };
    expect(subscriber.ended('plan')).toEqual([
      { correlator: CORRELATOR, questions: 1, result: planned },
    ]);
    const issued = { grant: 'client_credentials', result: { outcome: 'issued' } };
    expect(subscriber.ended('token')).toEqual([{ ...OF_CHECK, ...issued }]);
    const answered = { outcome: 'answered', attempts: 1 };
    expect(subscriber.ended('lookup')).toEqual([
      { ...OF_CHECK, maxAgeHours: 24, result: answered },
    ]);
    const replied = {
      operator: 'operator',
      method: 'POST',
      correlator: EXCHANGE_CORRELATOR,
      isRetry: false,
      addHeader: expect.any(Function) as () => void,
      result: { outcome: 'replied', status: 200 },
    };
    expect(subscriber.ended('exchange')).toEqual([
      { endpoint: 'token', url: `${url}/oauth/v1/token`, ...replied },
      { endpoint: 'check', url: `${new URL(url).origin}${checkPath}`, ...replied },
    ]);
    const result = { outcome: 'replied', status: 200, code: 'ok', operation: 'query' };
    const { hostname: name, port } = new URL(service.url);
    const request = {
      correlator: CORRELATOR,
      method: 'POST',
      httpVersion: '1.1',
      host: { name, port: Number(port) },
      parent: undefined,
      result,
    };
    expect([subscriber.ended('request'), subscriber.ended('consent')]).toEqual([[request], []]);
  });
});

it('the circuit of an endpoint is published when it opens', async () => {
  await using operator = await WiredOperator.start({
    token: (received, response) => answerJson(received, response, {}, 503),
  });
  await using service = await startService(operator.url, { OPERATOR_FLOW: '2-legged' });
  const numbers = Array.from({ length: 30 }, (_, index) => `+4477009003${10 + index}`);
  await service.ask(ASK, { numbers });
  const ofCircuits = subscriber.published.filter(({ name }) => name === 'circuit');
  const open = { operator: 'operator', endpoint: 'token', state: 'open' };
  expect(ofCircuits.map(({ message }) => message)).toEqual([open]);
});

const ANSWERED: LookupResult = { outcome: 'answered', attempts: 1 };

describe('work that breaks', () => {
  const message = { operator: 'operator', correlator: 'trace', operation: 'check' } as const;
  const defect = new TypeError(`Unexpected token in ${NEVER_SWAPPED}`);

  it.each([
    ['later', () => Promise.reject(defect)],
    [
      'at once',
      () => {
        throw defect;
      },
    ],
  ])('%s rejects with its own error, which is not published', async (_, work) => {
    const outcome = traced(
      lookupChannel,
      () => ({ ...message }),
      work,
      () => ANSWERED,
    );
    await expect(outcome).rejects.toBe(defect);
    expect(subscriber.ended('lookup')).toEqual([{ ...message, result: { outcome: 'broken' } }]);
    expect(subscriber.published.filter(({ event }) => event === 'error')).toEqual([]);
  });
});

describe('docs/diagnostics.md', () => {
  const page = new URL('../docs/diagnostics.md', import.meta.url);

  it('names every channel, and no other', async () => {
    const rows = (await readFile(page, 'utf8')).matchAll(/^\| `sim-swap:(\w+)` +\|/gm);
    const names = Array.from(rows, ([, name]) => name);
    const others = ['circuit', 'quota', 'store', 'audit', 'files'];
    expect(names).toHaveLength(TRACING.length + others.length);
    expect(new Set(names)).toEqual(new Set([...TRACING, ...others]));
  });

  it('has an example that runs before the service and sees its exchanges', async () => {
    const [, example = ''] = /```mjs\n(.*?)```/s.exec(await readFile(page, 'utf8')) ?? [];
    const files = new TemporaryFiles();
    const file = files.write('observe.mjs', example);
    await using operator = await WiredOperator.start();
    await using server = await ServerProcess.start(operator.url, {
      NODE_OPTIONS: `--import ${pathToFileURL(file).href}`,
    });
    await server.ask(CHECK, { number: NEVER_SWAPPED });
    await expect.poll(() => server.logged('exchange').length, { timeout: 10_000 }).toBe(2);
    expect(server.logged('exchange')).toMatchObject([
      { endpoint: 'token', outcome: 'replied', status: 200, ms: expect.any(Number) as number },
      { endpoint: 'check', outcome: 'replied', status: 200 },
    ]);
  }, 30_000);
});
