import { camara } from '../../../profiles/camara.ts';
import { describe, expect, it } from 'vitest';
import type { Flow } from '../../../src/tokens/authorizationSettings.ts';
import { answerJson, type Received } from '../../http/recordingServer.ts';
import { acknowledge, type OperatorScript } from '../../wiredOperator.ts';
import { DeviatingOperator, type Deviation } from './deviatingOperator.ts';
import {
  all,
  AS_DOCUMENTED,
  withCorrelator,
  withGrant,
  withMembers,
  withNumber,
  IN_SECONDS,
  withScopes,
  WITHOUT_USERNAME,
} from './deviations.ts';

/** What reached the operator for one question of each field, over its wire. */
interface Seen {
  readonly prompt: Received | undefined;
  readonly token: Received;
  readonly date: Received;
  readonly check: Received;
  readonly all: readonly Received[];
}

async function seen(
  deviation: Deviation,
  flow: Flow = '2-legged',
  script: OperatorScript = {},
): Promise<Seen> {
  await using operator = await DeviatingOperator.start({
    flow,
    deviation,
    script: { ...script, forgives: ['tokensOnAnotherSubject', 'unexpectedMembers'] },
  });
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

function formOf({ body }: Received): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(body));
}

function jsonOf({ body }: Received): unknown {
  return JSON.parse(body);
}

const NO_SCOPES = { 'retrieve-date': '', check: '' };
const ONE_SCOPE = { 'retrieve-date': 'sim-swap', check: 'sim-swap' };
const PURPOSE = 'dpv:FraudPreventionAndDetection';

const CIBA_PATHS = camara.grants['3-legged'].paths;
/** How our client posts a form. */
const POSTED = {
  method: 'POST',
  headers: {
    authorization: `Basic ${btoa('attacked:kept-secret-of-the-operator')}`,
    'content-type': 'application/x-www-form-urlencoded',
    accept: 'application/json',
    'x-correlator': expect.stringMatching(/^asked-[A-Za-z0-9]{12}-\d$/) as string,
  },
};

const CREDENTIALS = { grant_type: 'client_credentials' };
const USERNAME = { username: 'tel:+447700900001' };

describe('a token request', () => {
  it.each<[string, Deviation, Record<string, string>, string]>([
    [
      'as documented',
      AS_DOCUMENTED,
      { ...CREDENTIALS, scope: 'check-sim-swap', ...USERNAME },
      '/oauth/v1/token',
    ],
    [
      'without username',
      WITHOUT_USERNAME,
      { ...CREDENTIALS, scope: 'check-sim-swap' },
      '/oauth/v1/token',
    ],
    [
      'username in digits between texts',
      withGrant({ username: { before: 'msisdn:', form: 'digits', after: '@sim' } }),
      { ...CREDENTIALS, scope: 'check-sim-swap', username: 'msisdn:447700900001@sim' },
      '/oauth/v1/token',
    ],
    [
      'grant_type in the query, and no scope',
      all(withScopes({ operations: NO_SCOPES }), withGrant({ inQuery: ['grant_type'] })),
      USERNAME,
      '/oauth/v1/token?grant_type=client_credentials',
    ],
    [
      'nothing but a query',
      all(WITHOUT_USERNAME, withGrant({ inQuery: ['scope', 'grant_type'] })),
      {},
      '/oauth/v1/token?grant_type=client_credentials&scope=check-sim-swap',
    ],
    [
      'openid and a purpose, joined with #',
      withScopes({ openid: true, purpose: PURPOSE, joinedBy: '#' }),
      { ...CREDENTIALS, scope: `openid ${PURPOSE}#check-sim-swap`, ...USERNAME },
      '/oauth/v1/token',
    ],
    [
      'a purpose, joined with a space',
      withScopes({ operations: ONE_SCOPE, purpose: PURPOSE }),
      { ...CREDENTIALS, scope: `${PURPOSE} sim-swap`, ...USERNAME },
      '/oauth/v1/token',
    ],
  ])('%s', async (_, deviation, form, path) => {
    const { token } = await seen(deviation);
    expect(formOf(token)).toEqual(form);
    expect(token).toMatchObject({ path, ...POSTED });
  });

  it('goes to an address with a query of its own, and keeps it', async () => {
    const { token } = await seen(
      all(withGrant({ inQuery: ['grant_type'] }), (settings) => {
        if (settings.authorization.from !== 'settings') return settings;
        const { addresses } = settings.authorization;
        const ofTenant = `${addresses.token}?tenant=eu`;
        return {
          ...settings,
          authorization: {
            ...settings.authorization,
            addresses: { ...addresses, token: ofTenant },
          },
        };
      }),
    );
    expect(token.path).toBe('/oauth/v1/token?tenant=eu&grant_type=client_credentials');
  });

  it('names no number in its address, whatever is in the query', async () => {
    const { all: received } = await seen(withGrant({ inQuery: ['grant_type', 'scope'] }));
    expect(received.filter(({ path }) => path.includes('7700900001'))).toEqual([]);
  });
});

describe('the request of a consent', () => {
  it.each<[string, Deviation, Record<string, string>]>([
    ['as documented', AS_DOCUMENTED, { login_hint: 'tel:+447700900001', scope: 'check-sim-swap' }],
    [
      'a hint without tel:',
      withGrant({ loginHint: { before: '', form: 'with-plus', after: '' } }),
      { login_hint: '+447700900001', scope: 'check-sim-swap' },
    ],
    [
      'a hint in digits',
      withGrant({ loginHint: { before: 'tel:', form: 'digits', after: '' } }),
      { login_hint: 'tel:447700900001', scope: 'check-sim-swap' },
    ],
    [
      'openid and a purpose',
      withScopes({ openid: true, purpose: PURPOSE }),
      { login_hint: 'tel:+447700900001', scope: `openid ${PURPOSE} check-sim-swap` },
    ],
    [
      'no scopes: the member is left out',
      withScopes({ operations: NO_SCOPES }),
      { login_hint: 'tel:+447700900001' },
    ],
  ])('%s', async (_, deviation, form) => {
    const { prompt, token } = await seen(deviation, '3-legged');
    expect(prompt === undefined ? undefined : formOf(prompt)).toEqual(form);
    expect(prompt).toMatchObject({ path: CIBA_PATHS.backchannelAuthentication, ...POSTED });
    expect(token).toMatchObject({ path: CIBA_PATHS.cibaToken, ...POSTED });
    expect(formOf(token)).toMatchObject({ grant_type: 'urn:openid:params:mc:grant-type:ciba' });
  });

  it('is polled for with the operator’s own grant type', async () => {
    const grantType = 'urn:openid:params:grant-type:ciba';
    const { token } = await seen(withGrant({ grantType }), '3-legged');
    expect(formOf(token)).toMatchObject({ grant_type: grantType });
  });
});

const IN_HEADER = 'x-phone-number';

describe('a lookup', () => {
  it.each<[string, Flow, Deviation, object, object, string?]>([
    [
      'as documented',
      '2-legged',
      AS_DOCUMENTED,
      { phoneNumber: '+447700900001' },
      { phoneNumber: '+447700900001', maxAge: 240 },
    ],
    [
      'in digits',
      '2-legged',
      withNumber({ form: 'digits' }),
      { phoneNumber: '447700900001' },
      { phoneNumber: '447700900001', maxAge: 240 },
    ],
    [
      'the number in a header, in digits',
      '2-legged',
      withNumber({ header: IN_HEADER, form: 'digits' }),
      {},
      { maxAge: 240 },
      '447700900001',
    ],
    [
      'the number in a header, which is never sent',
      '2-legged',
      withNumber({ header: IN_HEADER, send: 'never' }),
      {},
      { maxAge: 240 },
    ],
    ['3-legged: the token holds the number', '3-legged', AS_DOCUMENTED, {}, { maxAge: 240 }],
    [
      '3-legged, named all the same',
      '3-legged',
      withNumber({ send: 'always', header: IN_HEADER }),
      {},
      { maxAge: 240 },
      '+447700900001',
    ],
    [
      'seconds',
      '2-legged',
      IN_SECONDS,
      { phoneNumber: '+447700900001' },
      { phoneNumber: '+447700900001', maxAge: 864_000 },
    ],
    [
      'members of other names',
      '2-legged',
      withMembers({ phoneNumber: 'msisdn', maxAge: 'max_age' }),
      { msisdn: '+447700900001' },
      { msisdn: '+447700900001', max_age: 240 },
    ],
  ])('%s', async (_, flow, deviation, dateBody, checkBody, inHeader) => {
    const { date, check } = await seen(deviation, flow);
    expect(jsonOf(date)).toEqual(dateBody);
    expect(jsonOf(check)).toEqual(checkBody);
    for (const { headers } of [date, check]) expect(headers['x-phone-number']).toBe(inHeader);
  });
});

describe('each endpoint', () => {
  it('has a path of its own', async () => {
    const paths = {
      token: '/apigateway/token',
      retrieveDate: '/camara/v2/last-change',
      check: '/camara/v2/check?version=2',
    };
    const { token, date, check } = await seen((settings) => {
      const root = new URL(settings.lookupAddresses.check).origin;
      const { backchannelAuthentication, cibaToken } = CIBA_PATHS;
      const addresses = {
        token: root + paths.token,
        backchannelAuthentication: root + backchannelAuthentication,
        cibaToken: root + cibaToken,
      };
      const lookupAddresses = {
        retrieveDate: root + paths.retrieveDate,
        check: root + paths.check,
      };
      return { ...settings, authorization: { from: 'settings', addresses }, lookupAddresses };
    });
    expect([token.path, date.path, check.path]).toEqual([
      paths.token,
      paths.retrieveDate,
      paths.check,
    ]);
  });

  it('is sent its own headers, those that are generated for each exchange', async () => {
    const {
      prompt,
      token,
      date,
      check,
      all: received,
    } = await seen(
      (settings) => ({
        ...settings,
        headers: [
          {
            name: 'vf_ext_bp_id',
            value: { kind: 'fixed', text: 'Acme_Co' },
            endpoints: new Set(['backchannelAuthentication', 'check']),
          },
          {
            name: 'vf-trace-transaction-id',
            value: { kind: 'generated', generator: 'uuid' },
            endpoints: new Set(['backchannelAuthentication', 'cibaToken', 'check', 'retrieveDate']),
          },
          {
            name: 'x-sent-at',
            value: { kind: 'generated', generator: 'timestamp' },
            endpoints: new Set(['retrieveDate']),
          },
        ],
      }),
      '3-legged',
    );
    const partner = [prompt, token, date, check].map((one) => one?.headers['vf_ext_bp_id']);
    expect(partner).toEqual(['Acme_Co', undefined, undefined, 'Acme_Co']);
    const traces = received.map(({ headers }) => headers['vf-trace-transaction-id']);
    expect(new Set(traces).size).toBe(received.length);
    for (const trace of traces) {
      expect(trace).toMatch(
        /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      );
    }
    expect(date.headers['x-sent-at']).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
    expect(check.headers['x-sent-at']).toBeUndefined();
  });
});

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Echoes what came in a header, under that name. */
const echoing =
  (header: string, body: object, status = 200): NonNullable<OperatorScript['lookUp']> =>
  (received, response) => {
    const name = String(received.headers[header]);
    response.writeHead(status, { 'content-type': 'application/json', [header]: name });
    response.end(JSON.stringify(body));
  };

describe('the correlator', () => {
  it('goes out under the operator’s name for it, as a UUID where that is wanted', async () => {
    const { all: received } = await seen(
      withCorrelator({ header: 'x-correlation-id', form: 'uuid' }),
    );
    const names = received.map(({ headers }) => String(headers['x-correlation-id']));
    expect(new Set(names).size).toBe(received.length);
    for (const name of names) expect(name).toMatch(UUID);
    expect(received.filter(({ headers }) => headers['x-correlator'] !== undefined)).toEqual([]);
  });

  it('begins with the caller’s where it is traceable', async () => {
    const { all: received } = await seen(withCorrelator({ header: 'x-correlation-id' }));
    for (const { headers } of received) {
      expect(headers['x-correlation-id']).toMatch(/^asked-[A-Za-z0-9]{12}-\d+$/);
    }
  });

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
    let other = '';
    await using operator = await DeviatingOperator.start({
      deviation: withCorrelator({ header, form: 'uuid' }),
      script: { lookUp: echoing(header, { swapped: false }) },
    });
    expect(await operator.ask({ maxAgeHours: 240 })).toBe(false);
    other = String(operator.wire.lookups[0]?.headers[header]);
    operator.wire.script = {
      lookUp: (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json', [header]: other });
        response.end('{"swapped":false}');
      },
    };
    expect(await operator.ask({ maxAgeHours: 240 })).toBe('OPERATOR_INVALID_REPLY');
    operator.wire.script = {
      lookUp: (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end('{"swapped":false}');
      },
    };
    expect(await operator.ask({ maxAgeHours: 240 })).toBe('OPERATOR_INVALID_REPLY');
  });
});

describe('the interval of polls', () => {
  it.each<[object, number, string]>([
    [{ interval: 0 }, 2, 'the floor, where the operator says 0'],
    [{ interval: 1 }, 2, 'the floor, where it says less'],
    [{ interval: 3 }, 2, 'what the operator says, where that is more'],
  ])('%j with a floor of %d s: %s', async (said, minIntervalSeconds) => {
    let polls = 0;
    await using operator = await DeviatingOperator.start({
      flow: '3-legged',
      deviation: withGrant({ minIntervalSeconds }),
      script: {
        authorize: (received, response) =>
          answerJson(received, response, { auth_req_id: 'one', expires_in: 60, ...said }),
        token: (received, response) => {
          polls += 1;
          answerJson(received, response, { error: 'authorization_pending' }, 400);
        },
      },
    });
    const { code, retryAfterSeconds } = await operator.failureOf({ maxAgeHours: 240, waitMs: 300 });
    expect(code).toBe('CONSENT_PENDING');
    expect(retryAfterSeconds).toBe(Math.max(minIntervalSeconds, Number(Object.values(said)[0])));
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
