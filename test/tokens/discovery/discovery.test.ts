import { describe, expect, it } from 'vitest';
import type { Exchange } from '../../../src/wire/exchange.ts';
import type {
  GuardedEndpoint,
  GuardedPost,
  Judged,
} from '../../../src/resilience/guardedEndpoint.ts';
import { DiscoveredEndpoint, Discovery } from '../../../src/tokens/discovery.ts';
import { RecordedLog } from '../../support/recordedLog.ts';
import { settled, START_MS, TestClock } from '../../support/testClock.ts';
import { ALICE } from '../../support/values.ts';

const ISSUER = 'https://auth.example';

/** A document that is fetched as the script says; its last entry is repeated. */
class Published implements AsyncDisposable {
  readonly clock = new TestClock();
  readonly #log = new RecordedLog();
  readonly fetchedAtMs: number[] = [];
  readonly discovery: Discovery;
  script: (() => Promise<unknown>)[];

  constructor(...script: (() => Promise<unknown>)[]) {
    this.script = script;
    this.discovery = new Discovery({
      source: {
        issuer: ISSUER,
        documentUrl: `${ISSUER}/doc`,
        hosts: [],
        hasCertificate: false,
        connection: {},
      },
      needed: ['token'],
      fetch: () => {
        this.fetchedAtMs.push(this.clock.monotonicMs() - this.#beganAtMs);
        const next = this.script.length > 1 ? this.script.shift() : this.script[0];
        return (next ?? down)();
      },
      clock: this.clock,
      log: this.#log,
      random: () => 1,
    });
  }

  readonly #beganAtMs = this.clock.monotonicMs();

  get logged(): readonly string[] {
    return this.#log.lines.map(({ level, message, reason = '' }) =>
      `${level} ${message} ${String(reason)}`.trim(),
    );
  }

  async token(): Promise<string | undefined> {
    return (await this.discovery.addresses())?.token;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.discovery.close();
    await settled();
    if (this.clock.sleepers > 0) throw new Error('The discovery goes on after it was closed.');
  }
}

const at = (path: string) => () =>
  Promise.resolve({ issuer: ISSUER, token_endpoint: ISSUER + path });
const down = () => Promise.reject(Object.assign(new Error('down'), { code: 'ECONNREFUSED' }));

const UNUSABLE = 'error The discovery document cannot be used: this operator is not called.';

describe('discovery', () => {
  it('reads the document at the start, and again after an hour', async () => {
    await using published = new Published(at('/one'), at('/two'));
    expect(await published.token()).toBe('https://auth.example/one');
    await published.clock.advance(3_599_999);
    expect(published.fetchedAtMs).toHaveLength(1);
    await published.clock.advance(1);
    expect(await published.token()).toBe('https://auth.example/two');
    expect(published.logged).toEqual([
      'info The discovery document was read.',
      'warn The endpoints in the discovery document have changed.',
    ]);
  });

  it('retries after 1 s, then after twice as long each time up to a minute, and logs each failure', async () => {
    await using published = new Published(down);
    expect(await published.token()).toBeUndefined();
    await published.clock.advance(200_000);
    expect(published.fetchedAtMs).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183].map((s) => s * 1000));
    expect(new Set(published.logged)).toEqual(new Set([`${UNUSABLE} ECONNREFUSED`]));
    published.script = [at('/one')];
    await published.clock.advance(60_000);
    expect(await published.token()).toBe('https://auth.example/one');
  });

  it('lets exchanges wait for the first reading, for a second at most', async () => {
    await using published = new Published(() => new Promise(() => undefined));
    const heard: unknown[] = [];
    void published.token().then((token) => heard.push(token));
    await published.clock.advance(999);
    expect(heard).toEqual([]);
    await published.clock.advance(1);
    expect(heard).toEqual([undefined]);
  });

  it('keeps the addresses when the document is not available', async () => {
    await using published = new Published(at('/one'), down);
    await published.token();
    await published.clock.advance(3_600_000);
    expect(await published.token()).toBe('https://auth.example/one');
    expect(published.logged.at(-1)).toBe(
      'error The discovery document cannot be used: the endpoints stay as they were. ECONNREFUSED',
    );
  });

  it('reads again at once on a suspicion, twice a minute at most', async () => {
    await using published = new Published(at('/one'));
    await published.token();
    await published.clock.advance(100_000);
    published.discovery.suspect();
    await settled();
    expect(published.fetchedAtMs).toEqual([0, 100_000]);
    for (let second = 0; second < 90; second += 1) {
      published.discovery.suspect();
      await published.clock.advance(1000);
    }
    expect(published.fetchedAtMs).toEqual([0, 100_000, 130_000, 160_000, 190_000]);
  });
});

interface Heard extends Judged {
  readonly exchange: Exchange;
}

const REQUEST: GuardedPost<Heard> = {
  about: ALICE,
  urgency: { deadlineMs: Infinity },
  make: () => {
    throw new Error('nothing is to be sent');
  },
  judge: (exchange) => ({ exchange }),
};

/** An endpoint whose exchanges end as the test says. */
class Places {
  readonly posted: string[] = [];
  readonly closed: string[] = [];
  suspected = 0;
  address: string | undefined;
  exchange: Exchange = replyWith(200);

  readonly endpoint = new DiscoveredEndpoint(
    'token',
    {
      addresses: () =>
        Promise.resolve(this.address === undefined ? undefined : { token: this.address }),
      suspect: () => void (this.suspected += 1),
    },
    (address) => this.#at(address),
  );

  #at(address: string): GuardedEndpoint {
    const place: Pick<GuardedEndpoint, 'post' | 'close'> = {
      post: (request) => {
        this.posted.push(address);
        const judged = request.judge(this.exchange);
        return Promise.resolve({
          judged,
          attempts: 1,
          mayHaveBeenCarriedOut: true,
          mayRetryWithNewToken: false,
        });
      },
      close: () => Promise.resolve(void this.closed.push(address)),
    };
    return place as GuardedEndpoint;
  }
}

function replyWith(status: number): Exchange {
  const reply = { status, headers: {}, body: '' };
  return { kind: 'reply', reply, sentAtMs: START_MS, leftAtMs: 0 };
}

function fault(cause: 'connection' | 'timeout', sent: boolean): Exchange {
  return { kind: 'fault', fault: { cause, sent, detail: 'x' } };
}

describe('an endpoint that is discovered', () => {
  it('sends nothing while its address is not known', async () => {
    const places = new Places();
    const { judged, attempts } = await places.endpoint.post(REQUEST);
    expect(judged.exchange).toMatchObject({ fault: { cause: 'connection', sent: false } });
    expect([attempts, places.posted]).toEqual([0, []]);
  });

  it('posts to its current address, and closes those that it left long ago', async () => {
    const places = new Places();
    for (const address of ['a', 'a', 'b', 'a', 'c', 'd']) {
      places.address = address;
      await places.endpoint.post(REQUEST);
    }
    expect(places.posted).toEqual(['a', 'a', 'b', 'a', 'c', 'd']);
    expect(places.closed).toEqual(['b']);
    await places.endpoint.close();
    expect(places.closed.toSorted()).toEqual(['a', 'b', 'c', 'd']);
  });

  it.each<[string, boolean, Exchange]>([
    ['a success', false, replyWith(200)],
    ['a redirect', true, replyWith(302)],
    ['a refused client', true, replyWith(401)],
    ['a wrong path', true, replyWith(404)],
    ['no connection', true, fault('connection', false)],
    ['a broken connection', false, fault('connection', true)],
  ])('after %s rereads the document: %s', async (_, isSuspected, exchange) => {
    const places = new Places();
    places.address = 'a';
    places.exchange = exchange;
    await places.endpoint.post(REQUEST);
    expect(places.suspected).toBe(isSuspected ? 1 : 0);
  });
});
