import { describe, expect, test } from 'vitest';
import { answerJson, type Answer } from '../http/recordingServer.ts';
import { tellAbout } from './answers.ts';
import { line } from './askedSimSwaps.ts';
import { answerRightly, grant, pend, replying, throughout } from '../wiredOperator.ts';
import { startWired, type Service } from '../service.ts';

const CHECK_ONLY = { OPERATOR_OPERATIONS: 'check' };
const THREE_LEGGED = { ...CHECK_ONLY, OPERATOR_FLOW: '3-legged', CONSENT_WAIT_MS: '8000' };

/** What the service tells of the last ten days, and nothing else. */
async function tell(service: Service, number = line(1)): Promise<unknown> {
  return (await tellAbout(service, number, 'tenDays: simSwappedWithin'))['tenDays'];
}

/** The lines of the log that say so, without their correlators. */
function logged(service: Service, message: RegExp): readonly string[] {
  return service.logged.filter((one) => message.test(one));
}

/** A gateway that writes correlators of its own. */
const ownCorrelator: Answer = (received, response) =>
  answerRightly({ ...received, correlator: 'of-the-gateway' }, response);

/** Answers polls in turn, the last answer for good. */
function polls(...answers: Answer[]): Answer {
  let count = 0;
  return (received, response) => {
    const answer = answers[Math.min(count, answers.length - 1)];
    count += 1;
    answer?.(received, response);
  };
}

/** A reply to another poll, with the correlator given or without one. */
const stray =
  (error: string, correlator?: string): Answer =>
  (_received, response) => {
    if (correlator !== undefined) response.setHeader('x-correlator', correlator);
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error }));
  };

describe('a wrong address is no "number not served"', () => {
  const FRAMEWORKS = {
    Spring: { timestamp: '2026-01-15T12:00:00Z', status: 404, error: 'Not Found', path: '/check' },
    Fastify: { message: 'Route POST:/check not found', error: 'Not Found', statusCode: 404 },
    WSO2: {
      code: '404',
      type: 'Status report',
      message: 'Not Found',
      description: 'Not available',
    },
    Keycloak: { error: 'RESTEASY003210: Could not find resource for full path' },
  };
  const ENDPOINTS = [
    ['/oauth/v1/token', { OPERATOR_FLOW: '2-legged', ...CHECK_ONLY }, 'OPERATOR_AUTH_URL'],
    ['/check', { OPERATOR_FLOW: '2-legged', ...CHECK_ONLY }, 'OPERATOR_SIM_SWAP_URL'],
    ['/retrieve-date', { OPERATOR_OPERATIONS: 'retrieve-date' }, 'OPERATOR_SIM_SWAP_URL'],
    ['/bc-authorize', THREE_LEGGED, 'OPERATOR_AUTH_URL'],
    ['/openIDConnectCIBA/v1/token', THREE_LEGGED, 'OPERATOR_AUTH_URL'],
  ] as const;

  test.each(
    Object.entries(FRAMEWORKS).flatMap(([framework, body]) =>
      ENDPOINTS.map((endpoint) => [framework, ...endpoint, body] as const),
    ),
  )("%s's 404 at %s", async (_, path, environment, setting, body) => {
    await using service = await startWired(
      throughout((received, response) =>
        (received.path.endsWith(path) ? replying(body, 404) : answerRightly)(received, response),
      ),
      environment,
    );

    expect(await tell(service)).toBe('OPERATOR_REFUSED');
    const [refused = ''] = logged(service, /refused our request/);
    expect(refused).toContain('"status":404');
    expect(refused).toContain(`"setting":"${setting}"`);
  });

  test('NOT_FOUND and nothing else over ten numbers is loud', async () => {
    await using service = await startWired(
      {
        lookUp: replying({ code: 'NOT_FOUND' }, 404),
      },
      CHECK_ONLY,
    );
    const suspected = () => logged(service, /nothing but NOT_FOUND/);

    for (let index = 0; index < 9; index += 1) {
      expect(await tell(service, line(index))).toBe('NUMBER_NOT_SERVED');
      expect(await tell(service, line(index))).toBe('NUMBER_NOT_SERVED');
    }
    expect(suspected()).toHaveLength(0);
    await tell(service, line(9));
    expect(suspected()).toHaveLength(1);
    expect(suspected()[0]).toContain('"setting":"OPERATOR_SIM_SWAP_URL"');
    expect(service.logged.join()).not.toContain('44770090');
  });

  test('NOT_FOUND after one answer is what it says', async () => {
    await using service = await startWired(
      {
        lookUp: (received, response) => {
          if (received.body.includes(line(0))) answerJson(received, response, { swapped: false });
          else answerJson(received, response, { code: 'NOT_FOUND' }, 404);
        },
      },
      CHECK_ONLY,
    );
    for (let index = 0; index < 20; index += 1) await tell(service, line(index));
    expect(logged(service, /NOT_FOUND/)).toEqual([]);
  });
});

describe('one bad number', () => {
  test('shuts the operator for no other, and five do, which the log says', async () => {
    const failing = new Set([line(0)]);
    await using service = await startWired(
      {
        lookUp: (received, response) => {
          const isBad = [...failing].some((number) => received.body.includes(number));
          answerJson(received, response, isBad ? {} : { swapped: false }, isBad ? 500 : 200);
        },
      },
      CHECK_ONLY,
    );
    const circuit = () => logged(service, /circuit/);

    for (let count = 0; count < 60; count += 1) {
      expect(await tell(service, line(0))).toBe('OPERATOR_UNAVAILABLE');
    }
    expect(service.operator.lookups).toHaveLength(60);
    expect(await tell(service, line(100))).toBe(false);
    expect(circuit()).toEqual([]);

    for (let index = 1; index < 5; index += 1) failing.add(line(index));
    for (let index = 1; index < 5; index += 1) await tell(service, line(index));
    expect(await tell(service, line(100))).toBe('OPERATOR_UNAVAILABLE');
    expect(circuit()).toEqual([expect.stringMatching(/circuit is open.*"endpoint":"check"/)]);
  });
});

describe('OPERATOR_CORRELATOR_ECHO', () => {
  test('never: an operator whose gateway writes correlators of its own is asked, on fresh connections', async () => {
    await using service = await startWired(throughout(ownCorrelator), {
      ...CHECK_ONLY,
      OPERATOR_CORRELATOR_ECHO: 'never',
    });
    const told = [];
    for (let index = 0; index < 3; index += 1) told.push(await tell(service, line(index)));
    expect(told).toEqual([false, false, false]);
    expect(service.operator.connections).toHaveLength(6);
  });

  test.each(['auto', 'always'])(
    '%s: it is refused, and the log names the setting',
    async (echo) => {
      await using service = await startWired(throughout(ownCorrelator), {
        ...CHECK_ONLY,
        OPERATOR_CORRELATOR_ECHO: echo,
      });
      expect(await tell(service)).toBe('OPERATOR_INVALID_REPLY');
      expect(logged(service, /cannot be trusted/)).toEqual([
        expect.stringContaining('"setting":"echo: never"'),
      ]);
    },
  );
});

describe('a consent', () => {
  test.each(
    ['auto', 'always'].flatMap((echo) => [
      [echo, 'access_denied', undefined] as const,
      [echo, 'expired_token', undefined] as const,
      [echo, 'invalid_client', undefined] as const,
      [echo, 'access_denied', 'another'] as const,
    ]),
  )('%s: a stray %s under the correlator %s ends none', async (echo, error, correlator) => {
    await using service = await startWired(
      {
        token: polls(pend, stray(error, correlator), grant),
        forgives: ['pollsAfterTheEnd'],
      },
      {
        ...THREE_LEGGED,
        OPERATOR_CORRELATOR_ECHO: echo,
      },
    );

    expect(await tell(service)).toBe(false);
    const asked = service.operator.tokens;
    expect(asked).toHaveLength(3);
    expect(asked[2]?.connection, 'the next poll takes a fresh connection').not.toBe(
      asked[0]?.connection,
    );
    expect(asked[2]?.connection).not.toBe(asked[1]?.connection);
    expect(logged(service, /cannot be trusted/)).toHaveLength(1);
  });

  test('of an operator that echoes only on successes ends with the second denial', async () => {
    await using service = await startWired(
      {
        token: polls(pend, stray('access_denied')),
        forgives: ['pollsAfterTheEnd'],
      },
      THREE_LEGGED,
    );
    expect(await tell(service)).toBe('CONSENT_DENIED');
    expect(service.operator.tokens).toHaveLength(3);
  });

  test('goes on where a code is beside the error', async () => {
    await using service = await startWired(
      {
        token: polls(replying({ code: 400, error: 'authorization_pending' }, 400), grant),
      },
      THREE_LEGGED,
    );
    expect(await tell(service)).toBe(false);
  });

  test.each([
    [503, '1'],
    [429, '1'],
    [500, undefined],
    [408, undefined],
  ])('asked for once: %d with Retry-After: %s is not repeated', async (status, retryAfter) => {
    await using service = await startWired(
      {
        authorize: (received, response) => {
          if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter);
          answerJson(received, response, {}, status);
        },
      },
      THREE_LEGGED,
    );
    await tell(service);
    expect(service.operator.received).toHaveLength(1);
  });

  test.each([
    ['3-legged', 'CONSENT_DENIED', /denied consent at a lookup/],
    ['2-legged', 'OPERATOR_REFUSED', /refused our request/],
  ])('%s: access_denied at a lookup is %s, and logged', async (flow, code, saying) => {
    await using service = await startWired(
      {
        lookUp: replying({ error: 'access_denied' }, 403),
      },
      {
        ...THREE_LEGGED,
        OPERATOR_FLOW: flow,
      },
    );
    expect(await tell(service)).toBe(code);
    expect(logged(service, saying)).toEqual([expect.stringContaining('"word":"access_denied"')]);
  });
});

test('PERIOD_NOT_SUPPORTED says for how long the operator answers, where that is set', async () => {
  await using service = await startWired(
    {},
    {
      ...CHECK_ONLY,
      OPERATOR_MAX_AGE_HOURS: '168',
    },
  );
  const { errors } = await service.ask(`{ phoneNumber(e164: "${line(1)}") { simSwappedWithin } }`);
  expect(errors?.[0]?.extensions).toEqual({ code: 'PERIOD_NOT_SUPPORTED', maxAgeHours: 168 });
  expect(service.operator.received).toEqual([]);
});
