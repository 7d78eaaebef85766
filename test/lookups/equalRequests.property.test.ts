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

it('no two requests of an operation to one operator about one number are equal', async () => {
  let script: readonly { status: number; body: object }[] = [];
  let lookups: Received[] = [];
  let requests = 0;
  await using server = await RecordingServer.start((received, response) => {
    if (received.path.startsWith('/oauth')) {
      const access_token = `token-${received.correlator}`;
      answerJson(received, response, { access_token, token_type: 'Bearer', expires_in: 60 });
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
      const settings = operatorNamed('theirs', server.url, {
        prefixes: ['default'],
        keepFactsSeconds,
        lookups: { 'retrieve-date': lookup(datePath), check: lookup(checkPath) },
        lookupAddresses: { retrieveDate: server.url + datePath, check: server.url + checkPath },
      });
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
      const sent = lookups.map(({ path, body }) => `${path} ${body}`);
      expect(new Set(sent).size).toBe(sent.length);
    }),
    { numRuns: RUNS },
  );
  // So that the property is about something.
  expect(requests).toBeGreaterThan(RUNS);
});
