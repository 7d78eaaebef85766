import { describe, expect, it } from 'vitest';
import type { ProfileHeader } from '../../../src/domain/profile.ts';
import type { Flow } from '../../../src/tokens/authorizationSettings.ts';
import type { Answer, Received } from '../../wire/recordingServer.ts';
import { pend, replying } from '../../support/wiredOperator.ts';
import {
  DeviatingOperator,
  withCorrelator,
  withGrant,
  type Deviation,
} from './deviatingOperator.ts';

/** What reached the operator for one question of each field. */
async function seen(deviation: Deviation, flow: Flow = '2-legged') {
  const script = { forgives: ['tokensOnAnotherSubject', 'unexpectedMembers'] } as const;
  await using operator = await DeviatingOperator.start({ flow, deviation, script });
  expect(await operator.ask({ maxAgeHours: 240 })).toBe(false);
  const { prompts, tokens } = operator.wire;
  const [prompt, token] = [prompts[0], tokens[0]];
  expect(await operator.ask()).toBe('2010-01-01T00:00:00Z');
  const [check, date] = operator.wire.lookups;
  return { prompt, token, check, date, all: operator.wire.received };
}

const ofTenant: Deviation = ({ authorization, ...settings }) => {
  if (authorization.from !== 'settings') throw new Error('There is no address.');
  const addresses = { ...authorization.addresses };
  addresses.token = `${addresses.token}?tenant=eu`;
  return { ...settings, authorization: { ...authorization, addresses } };
};

it('a token request keeps the query of its address', async () => {
  const inQuery = withGrant({ inQuery: ['grant_type'] });
  const { token } = await seen((settings) => ofTenant(inQuery(settings)));
  expect(token?.path).toBe('/oauth/v1/token?tenant=eu&grant_type=client_credentials');
});

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

it('each endpoint gets its own headers, and those that are generated for each exchange', async () => {
  const prompting = 'backchannelAuthentication';
  const all4 = [prompting, 'cibaToken', 'check', 'retrieveDate'] as const;
  const headers: ProfileHeader[] = [
    { name: 'vf_ext_bp_id', value: 'Acme_Co', endpoints: [prompting, 'check'] },
    { name: 'vf-trace-transaction-id', value: { generated: 'uuid' }, endpoints: all4 },
    { name: 'x-sent-at', value: { generated: 'timestamp' }, endpoints: ['retrieveDate'] },
  ];
  const wire = await seen((settings) => ({ ...settings, headers }), '3-legged');
  const { prompt, token, date, check, all } = wire;
  const partner = [prompt, token, date, check].map((one) => one?.headers['vf_ext_bp_id']);
  expect(partner).toEqual(['Acme_Co', undefined, undefined, 'Acme_Co']);
  const traces = all.map((one) => one.headers['vf-trace-transaction-id']);
  expect(new Set(traces).size).toBe(all.length);
  for (const trace of traces) expect(trace).toMatch(UUID);
  expect(date?.headers['x-sent-at']).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
  expect(check?.headers['x-sent-at']).toBeUndefined();
});

describe('the correlator', () => {
  it('is in the log under both names', async () => {
    await using operator = await DeviatingOperator.start({
      deviation: withCorrelator({ form: 'uuid' }),
      script: { lookUp: replying({}, 503) },
    });
    expect(await operator.ask()).toBe('OPERATOR_UNAVAILABLE');
    const sentAs = operator.wire.lookups[0]?.correlator ?? '';
    expect(sentAs).toMatch(UUID);
    const line = operator.logged.find((one) => one.includes(sentAs)) ?? '';
    expect(line).toMatch(/"correlator":"asked-[A-Za-z0-9]{12}-2"/);
  });

  it('is checked under its own name: a reply with another one, or none, is refused', async () => {
    const header = 'x-correlation-id';
    const echoing =
      (echoOf: (received: Received) => string | undefined): Answer =>
      (received, response) => {
        const echo = echoOf(received);
        if (echo !== undefined) response.setHeader(header, echo);
        response.setHeader('content-type', 'application/json').end('{"swapped":false}');
      };
    const own = ({ headers }: Received) => String(headers[header]);
    await using operator = await DeviatingOperator.start({
      deviation: withCorrelator({ header, form: 'uuid' }),
      script: { lookUp: echoing(own) },
    });
    expect(await operator.ask({ maxAgeHours: 240 })).toBe(false);
    const other = String(operator.wire.lookups[0]?.headers[header]);
    for (const echo of [other, undefined]) {
      operator.wire.script = { lookUp: echoing(() => echo) };
      expect(await operator.ask({ maxAgeHours: 240 })).toBe('OPERATOR_INVALID_REPLY');
    }
  });
});

describe('the interval of polls', () => {
  it.each([
    [0, 2],
    [3, 3],
  ])('%d of an operator, with a floor of 2 s, is %d', async (interval, expected) => {
    await using operator = await DeviatingOperator.start({
      flow: '3-legged',
      deviation: withGrant({ minIntervalSeconds: 2 }),
      script: {
        authorize: replying({ auth_req_id: 'one', expires_in: 60, interval }),
        token: pend,
      },
    });
    const { code, retryAfterSeconds } = await operator.failureOf({ maxAgeHours: 240, waitMs: 300 });
    expect([code, retryAfterSeconds]).toEqual(['CONSENT_PENDING', expected]);
    expect(operator.wire.tokens).toHaveLength(1);
  });

  it('passes before the first poll, where the operator requires that', async () => {
    await using operator = await DeviatingOperator.start({
      flow: '3-legged',
      deviation: withGrant({ firstPoll: 'after-interval' }),
    });
    expect(await operator.ask({ maxAgeHours: 240, waitMs: 100 })).toBe('CONSENT_PENDING');
    expect(operator.wire.tokens).toEqual([]);
  });
});
