import { describe, expect, test } from 'vitest';
import { told } from './answers.ts';
import { lookingUp, replying } from '../wiredOperator.ts';
import { startWired, type Service } from '../service.ts';

const NUMBER = '+447700900004';
const BOTH = '{ phoneNumber(e164: "+447700900004") { lastSimSwap simSwappedWithin } }';

/** Dates are withheld and checks `false`, so that both operations are used. */
const SCRIPT = { lookUp: lookingUp(replying({ swapped: false })) };

async function askBoth(service: Service, headers: Readonly<Record<string, string>> = {}) {
  const heard = told(await service.ask(BOTH, {}, headers));
  expect(heard).toEqual({ lastSimSwap: null, simSwappedWithin: false });
}

describe('x-correlator', () => {
  const random = '[A-Za-z0-9]{12}';
  test.each([
    ['is passed on', 'checkout-7', `checkout-7-${random}`],
    ['is cut to 24 characters', 'x'.repeat(300), `x{24}-${random}`],
    ['may be absent', undefined, random],
  ])("the caller's %s, and every exchange has its own", async (_name, sent, prefix) => {
    await using service = await startWired(SCRIPT);

    await askBoth(service, sent === undefined ? {} : { 'x-correlator': sent });

    const correlators = service.operator.received.map(({ correlator }) => correlator);
    expect(correlators).toHaveLength(4);
    expect(new Set(correlators).size).toBe(4);
    for (const correlator of correlators) {
      expect(correlator).toMatch(new RegExp(`^${prefix}-\\d+$`));
      expect(correlator.length).toBeLessThanOrEqual(55);
    }
  });

  test('two requests with the same one share no exchange, each about a number of its own', async () => {
    await using service = await startWired(SCRIPT);

    const headers = { 'x-correlator': 'same' };
    await Promise.all(
      [BOTH, BOTH.replace(/4"/, '5"')].map((both) => service.ask(both, {}, headers)),
    );

    const correlators = service.operator.received.map(({ correlator }) => correlator);
    expect(new Set(correlators).size).toBe(8);
  });
});

describe("a lookup's body", () => {
  const NAMED = { date: { phoneNumber: NUMBER }, check: { phoneNumber: NUMBER, maxAge: 240 } };
  const UNNAMED = { date: {}, check: { maxAge: 240 } };
  test.each([
    ['2-legged', 'auto', NAMED],
    ['2-legged', 'always', NAMED],
    ['2-legged', 'never', UNNAMED],
    ['3-legged', 'auto', UNNAMED],
    ['3-legged', 'always', NAMED],
    ['3-legged', 'never', UNNAMED],
  ])('%s, OPERATOR_SEND_PHONE_NUMBER=%s', async (flow, setting, bodies) => {
    await using service = await startWired(SCRIPT, {
      OPERATOR_FLOW: flow,
      OPERATOR_SEND_PHONE_NUMBER: setting,
    });

    await askBoth(service);

    expect(service.operator.lookups.map(({ path, body }) => [path, JSON.parse(body)])).toEqual([
      ['/retrieve-date', bodies.date],
      ['/check', bodies.check],
    ]);
  });
});

describe('settings of how an operator is asked', () => {
  test.each(['2-legged', '3-legged'])('%s: its scopes and headers go out', async (flow) => {
    await using service = await startWired(SCRIPT, {
      OPERATOR_FLOW: flow,
      OPERATOR_SCOPE_RETRIEVE_DATE: 'scope-of-date',
      OPERATOR_SCOPE_CHECK: 'scope-of-check',
      OPERATOR_HEADERS: '{"x-channel":"graph"}',
    });

    await askBoth(service);

    const scopes = service.operator.received.map(({ body }) =>
      new URLSearchParams(body).get('scope'),
    );
    expect(scopes.filter((scope) => scope !== null)).toEqual(['scope-of-date', 'scope-of-check']);
    expect(service.operator.received.map(({ headers }) => headers['x-channel'])).toEqual(
      service.operator.received.map(() => 'graph'),
    );
  });

  test('OPERATOR_CIBA_GRANT_TYPE is what a poll says', async () => {
    await using service = await startWired(SCRIPT, {
      OPERATOR_FLOW: '3-legged',
      OPERATOR_CIBA_GRANT_TYPE: 'urn:openid:params:grant-type:ciba',
    });

    await askBoth(service);

    expect(
      service.operator.tokens.map(({ body }) => new URLSearchParams(body).get('grant_type')),
    ).toEqual(['urn:openid:params:grant-type:ciba', 'urn:openid:params:grant-type:ciba']);
  });

  test.each([
    [
      'retrieve-date',
      { lastSimSwap: null, simSwappedWithin: 'PERIOD_NOT_SUPPORTED' },
      ['/retrieve-date'],
    ],
    ['check', { lastSimSwap: 'OPERATION_NOT_OFFERED', simSwappedWithin: false }, ['/check']],
  ])('OPERATOR_OPERATIONS=%s: the other is never called', async (operations, heard, paths) => {
    await using service = await startWired(SCRIPT, { OPERATOR_OPERATIONS: operations });

    expect(told(await service.ask(BOTH))).toEqual(heard);

    expect(service.operator.lookups.map(({ path }) => path)).toEqual(paths);
  });
});
