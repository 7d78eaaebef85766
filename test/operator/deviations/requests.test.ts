import { describe, expect, it } from 'vitest';
import type { ProfileEndpoint, ProfileHeader } from '../../../src/domain/profile.ts';
import type { Flow } from '../../../src/tokens/authorizationSettings.ts';
import { answerJson, type Answer, type Received } from '../../http/recordingServer.ts';
import { acknowledge } from '../../wiredOperator.ts';
import {
  DeviatingOperator,
  withCorrelator,
  withGrant,
  type Deviation,
} from './deviatingOperator.ts';

/** What reached the operator for one question of each field, over its wire. */
interface Seen {
  readonly prompt: Received | undefined;
  readonly token: Received;
  readonly date: Received;
  readonly check: Received;
  readonly all: readonly Received[];
}

async function seen(deviation: Deviation, flow: Flow = '2-legged'): Promise<Seen> {
  const script = { forgives: ['tokensOnAnotherSubject', 'unexpectedMembers'] } as const;
  await using operator = await DeviatingOperator.start({ flow, deviation, script });
  expect(await operator.ask({ maxAgeHours: 240 })).toBe(false);
  const { prompts, tokens } = operator.wire;
  const [prompt, token] = [prompts[0], tokens[0]];
  expect(await operator.ask()).toBe('2010-01-01T00:00:00Z');
  const [check, date] = operator.wire.lookups;
  if (token === undefined || check === undefined || date === undefined) {
    throw new Error('Something was not asked for.');
  }
  return { prompt, token, check, date, all: operator.wire.received };
}

const ofTenant: Deviation = ({ authorization, ...settings }) => {
  if (authorization.from !== 'settings') throw new Error('There is no address.');
  const addresses = { ...authorization.addresses };
  addresses.token = `${addresses.token}?tenant=eu`;
  return { ...settings, authorization: { ...authorization, addresses } };
};

it('a token request goes to an address with a query of its own, and keeps it', async () => {
  const inQuery = withGrant({ inQuery: ['grant_type'] });
  const { token } = await seen((settings) => ofTenant(inQuery(settings)));
  expect(token.path).toBe('/oauth/v1/token?tenant=eu&grant_type=client_credentials');
});

function headerOf(
  name: string,
  value: ProfileHeader['value'],
  ...endpoints: ProfileEndpoint[]
): ProfileHeader {
  return { name, value, endpoints };
}

describe('each endpoint', () => {
  it('is sent its own headers, those that are generated for each exchange', async () => {
    const prompting = 'backchannelAuthentication';
    const all4 = [prompting, 'cibaToken', 'check', 'retrieveDate'] as const;
    const own = [
      headerOf('vf_ext_bp_id', 'Acme_Co', prompting, 'check'),
      headerOf('vf-trace-transaction-id', { generated: 'uuid' }, ...all4),
      headerOf('x-sent-at', { generated: 'timestamp' }, 'retrieveDate'),
    ];
    const wire = await seen((settings) => ({ ...settings, headers: own }), '3-legged');
    const { prompt, token, date, check, all: received } = wire;
    const partner = [prompt, token, date, check].map((one) => one?.headers['vf_ext_bp_id']);
    expect(partner).toEqual(['Acme_Co', undefined, undefined, 'Acme_Co']);
    const traces = received.map(({ headers }) => headers['vf-trace-transaction-id']);
    expect(new Set(traces).size).toBe(received.length);
    for (const trace of traces) expect(trace).toMatch(UUID);
    expect(date.headers['x-sent-at']).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
    expect(check.headers['x-sent-at']).toBeUndefined();
  });
});

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('the correlator', () => {
  it('is found in the log under both names', async () => {
    await using operator = await DeviatingOperator.start({
      deviation: withCorrelator({ form: 'uuid' }),
      script: { lookUp: (received, response) => answerJson(received, response, {}, 503) },
    });
    expect(await operator.ask()).toBe('OPERATOR_UNAVAILABLE');
    const sentAs = operator.wire.lookups[0]?.correlator ?? '';
    expect(sentAs).toMatch(UUID);
    const line = operator.logged.find((one) => one.includes(sentAs)) ?? '';
    expect(line).toMatch(/"correlator":"asked-[A-Za-z0-9]{12}-2"/);
  });

  it('echoed under its own name tells replies apart, and that of another request is refused', async () => {
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
    let polls = 0;
    await using operator = await DeviatingOperator.start({
      flow: '3-legged',
      deviation: withGrant({ minIntervalSeconds: 2 }),
      script: {
        authorize: (received, response) =>
          answerJson(received, response, { auth_req_id: 'one', expires_in: 60, interval }),
        token: (received, response) => {
          polls += 1;
          answerJson(received, response, { error: 'authorization_pending' }, 400);
        },
      },
    });
    const { code, retryAfterSeconds } = await operator.failureOf({ maxAgeHours: 240, waitMs: 300 });
    expect([code, retryAfterSeconds]).toEqual(['CONSENT_PENDING', expected]);
    expect(polls).toBe(1);
  });

  it('waits out its interval before the first poll, where the operator wants that', async () => {
    await using operator = await DeviatingOperator.start({
      flow: '3-legged',
      deviation: withGrant({ firstPoll: 'after-interval' }),
      script: { authorize: acknowledge },
    });
    expect(await operator.ask({ maxAgeHours: 240, waitMs: 100 })).toBe('CONSENT_PENDING');
    expect(operator.wire.tokens).toEqual([]);
  });
});
