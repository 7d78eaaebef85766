import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { LookupAsk, LookupProfile } from '../../src/domain/profile.ts';
import { inForm } from '../support/forms.ts';
import { answerJson, RecordingServer, type Received } from '../wire/recordingServer.ts';
import { date, operatorNamed, SeveralOperators, window } from '../support/severalOperators.ts';
import { ALICE } from '../support/values.ts';

/** How an operator's requests depend on the window: not at all, by days, by its hours. */
const WRITES = {
  nothing: () => 0,
  days: ({ maxAgeHours = 240 }: LookupAsk) => Math.ceil(maxAgeHours / 24),
  hours: ({ maxAgeHours = 240 }: LookupAsk) => maxAgeHours,
} as const;

const DATES = [null, '2010-01-01T00:00:00Z', '2026-11-01T00:00:00Z', 'no date'] as const;

/** Neither 401, which a new token may change, nor what is retried by the table. */
const REPLIES = fc.oneof(
  fc.record({
    status: fc.constant(200),
    body: fc.record(
      {
        swapped: fc.constantFrom(true, false, 'false'),
        date: fc.constantFrom(...DATES),
        period: fc.constantFrom('PT48H', 'P10D', 'P1M'),
      },
      { requiredKeys: [] },
    ),
  }),
  fc.record({
    status: fc.constantFrom(400, 403, 404, 422, 501, 503),
    body: fc.record({ code: fc.constantFrom('INVALID_ARGUMENT', 'OUT_OF_RANGE', 'NOT_FOUND') }),
  }),
);

const PROFILES = fc.record({
  method: fc.constantFrom('GET', 'POST'),
  paths: fc.constantFrom(['/same', '/same'], ['/date', '/check']),
  writes: fc.constantFrom<keyof typeof WRITES>('nothing', 'days', 'hours'),
  window: fc.constantFrom<'asked' | number | '/period'>('asked', 240, '/period'),
  isPartial: fc.boolean(),
  keepFactsSeconds: fc.constantFrom(0, 60),
});

const QUESTIONS = fc.uniqueArray(fc.constantFrom(undefined, 1, 24, 48, 240, 720), { minLength: 1 });

const RUNS = inForm({ short: 50, long: 600 });
/** Each is a prompt and a poll more. */
const RUNS_WITH_CONSENT = inForm({ short: 20, long: 300 });

it.each(['2-legged', '3-legged'] as const)(
  '%s: no two requests of an operation to one operator about one number are equal',
  async (flow) => {
    const runs = flow === '2-legged' ? RUNS : RUNS_WITH_CONSENT;
    let script: readonly { status: number; body: object }[] = [];
    let lookups: Received[] = [];
    let requests = 0;
    await using server = await RecordingServer.start((received, response) => {
      if (received.path.endsWith('/bc-authorize')) {
        const auth_req_id = String(new URLSearchParams(received.body).get('scope'));
        answerJson(received, response, { auth_req_id, expires_in: 60, interval: 1 });
        return;
      }
      if (received.path.endsWith('/token')) {
        // The operation that the owner consented to is a part of a 3-legged request.
        const form = new URLSearchParams(received.body);
        const access_token = `${form.get('auth_req_id') ?? ''} ${received.correlator}`;
        const token = Buffer.from(access_token).toString('base64url');
        answerJson(received, response, {
          access_token: token,
          token_type: 'Bearer',
          expires_in: 120,
        });
        return;
      }
      const reply = script[lookups.length % script.length] ?? { status: 200, body: {} };
      lookups.push(received);
      answerJson(received, response, reply.body, reply.status);
    });
    const operations = fc.array(QUESTIONS, { minLength: 1, maxLength: 3 });
    const replies = fc.array(REPLIES, { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(PROFILES, replies, operations, async (profile, played, batches) => {
        const { method, writes, window: reads, isPartial, keepFactsSeconds } = profile;
        const [datePath = '', checkPath = ''] = profile.paths;
        const lookup = (path: string): LookupProfile => ({
          method,
          path,
          write: (ask) =>
            method === 'GET'
              ? { query: { period: WRITES[writes](ask) } }
              : { body: { period: WRITES[writes](ask) } },
          read: {
            date: { at: '/date', form: 'rfc3339', sentinels: [], nullMeans: 'not-disclosed' },
            swapped: { at: '/swapped', true: true, false: false, window: reads },
            isPartial,
          },
        });
        const settings = operatorNamed(
          'theirs',
          server.url,
          {
            prefixes: ['default'],
            keepFactsSeconds,
            lookups: { 'retrieve-date': lookup(datePath), check: lookup(checkPath) },
            lookupAddresses: { retrieveDate: server.url + datePath, check: server.url + checkPath },
          },
          { OPERATOR_FLOW: flow },
        );
        await using service = new SeveralOperators([settings]);
        script = played;
        lookups = [];
        const loader = service.request();
        for (const questions of batches) {
          await Promise.all(
            questions.map((hours) =>
              hours === undefined ? date(loader, ALICE) : window(loader, ALICE, hours),
            ),
          );
        }
        requests += lookups.length;
        const sent = lookups.map(({ path, body, headers }) => {
          const [, token = ''] = String(headers.authorization).split(' ');
          const [scope = ''] = Buffer.from(token, 'base64url').toString().split(' ');
          return `${scope} ${path} ${body}`;
        });
        expect(new Set(sent).size).toBe(sent.length);
      }),
      { numRuns: runs },
    );
    // So that the property is about something.
    expect(requests).toBeGreaterThan(runs);
  },
);
