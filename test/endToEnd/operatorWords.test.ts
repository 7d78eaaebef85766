import { describe, expect, test } from 'vitest';
import { answerJson, type Answer } from '../http/recordingServer.ts';
import { tellAbout } from './answers.ts';
import { line } from './askedSimSwaps.ts';
import { answerRightly, grant, pend, replying, throughout } from '../wiredOperator.ts';
import { startWired, type Service } from '../service.ts';

const CHECK_ONLY = { OPERATOR_OPERATIONS: 'check' };
const THREE_LEGGED = { ...CHECK_ONLY, OPERATOR_FLOW: '3-legged', CONSENT_WAIT_MS: '8000' };

async function tell(service: Service, number = line(1)): Promise<unknown> {
  return (await tellAbout(service, number, 'tenDays: simSwappedWithin'))['tenDays'];
}

/** The lines of the log that say so, without their correlators. */
function logged(service: Service, message: RegExp): readonly string[] {
  return service.logged.filter((one) => message.test(one));
}

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
  const KEYCLOAK = { error: 'RESTEASY003210: Could not find resource for full path' };
  const ENDPOINTS = [
    ['/oauth/v1/token', { OPERATOR_FLOW: '2-legged', ...CHECK_ONLY }, 'OPERATOR_AUTH_URL'],
    ['/check', { OPERATOR_FLOW: '2-legged', ...CHECK_ONLY }, 'OPERATOR_SIM_SWAP_URL'],
    ['/retrieve-date', { OPERATOR_OPERATIONS: 'retrieve-date' }, 'OPERATOR_SIM_SWAP_URL'],
    ['/bc-authorize', THREE_LEGGED, 'OPERATOR_AUTH_URL'],
    ['/openIDConnectCIBA/v1/token', THREE_LEGGED, 'OPERATOR_AUTH_URL'],
  ] as const;

  test.each(ENDPOINTS)("a framework's 404 at %s", async (path, environment, setting) => {
    await using service = await startWired(
      throughout((received, response) =>
        (received.path.endsWith(path) ? replying(KEYCLOAK, 404) : answerRightly)(
          received,
          response,
        ),
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

describe('a consent', () => {
  test.each([
    ['auto', 'access_denied', undefined],
    ['always', 'access_denied', 'another'],
  ])('%s: a stray %s under the correlator %s ends none', async (echo, error, correlator) => {
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
});
