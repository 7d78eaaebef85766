import { describe, expect, test } from 'vitest';
import type { Answer } from '../wire/recordingServer.ts';
import { tellAbout } from './answers.ts';
import { line } from './askedSimSwaps.ts';
import { grant, pend, replying } from '../support/wiredOperator.ts';
import { startWired, type Service } from '../support/service.ts';

const CHECK_ONLY = { OPERATOR_OPERATIONS: 'check' };

async function tell(service: Service, number = line(1)): Promise<unknown> {
  return (await tellAbout(service, number, 'tenDays: simSwappedWithin'))['tenDays'];
}

function logged(service: Service, message: RegExp): readonly string[] {
  return service.logged.filter((one) => message.test(one));
}

describe('NOT_FOUND, which a wrong path may also answer,', () => {
  const NOT_FOUND = replying({ code: 'NOT_FOUND' }, 404);

  test.each([
    [{}, 'OPERATOR_SIM_SWAP_URL'],
    [CHECK_ONLY, 'simSwapUrl of "operator"'],
  ])(
    'is logged as a wrong address once nothing else came over ten numbers',
    async (environment, setting) => {
      await using service = await startWired({ lookUp: NOT_FOUND }, environment);
      const suspected = () => logged(service, /nothing but NOT_FOUND/);

      for (let index = 0; index < 9; index += 1) {
        expect(await tell(service, line(index))).toBe('NUMBER_NOT_SERVED');
        expect(await tell(service, line(index))).toBe('NUMBER_NOT_SERVED');
      }
      expect(suspected()).toEqual([]);
      await tell(service, line(9));
      expect(suspected()).toEqual([
        expect.stringContaining(`"setting":${JSON.stringify(setting)}`),
      ]);
      expect(service.logged.join()).not.toContain('44770090');
    },
  );

  test('is about the number after one answer', async () => {
    await using service = await startWired({}, CHECK_ONLY);
    await tell(service, line(0));
    service.operator.script = { lookUp: NOT_FOUND };
    for (let index = 1; index < 20; index += 1) await tell(service, line(index));
    expect(logged(service, /NOT_FOUND/)).toEqual([]);
  });
});

/** Answers polls in turn, the last answer for good. */
function polls(...answers: Answer[]): Answer {
  let count = 0;
  return (received, response) => {
    answers[Math.min(count, answers.length - 1)]?.(received, response);
    count += 1;
  };
}

const denial =
  (correlator?: string): Answer =>
  (_received, response) => {
    if (correlator !== undefined) response.setHeader('x-correlator', correlator);
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: 'access_denied' }));
  };

function start(token: Answer, echo: string) {
  return startWired(
    { token, forgives: ['pollsAfterTheEnd'] },
    {
      ...CHECK_ONLY,
      OPERATOR_FLOW: '3-legged',
      CONSENT_WAIT_MS: '8000',
      OPERATOR_CORRELATOR_ECHO: echo,
    },
  );
}

describe('a denial without the correlator of its poll', () => {
  test.each([
    ['auto', undefined],
    ['always', 'another'],
  ])('does not end the consent (echo: %s, correlator: %s)', async (echo, correlator) => {
    await using service = await start(polls(pend, denial(correlator), grant), echo);
    expect(await tell(service)).toBe(false);
    const [first, second, third] = service.operator.tokens.map(({ connection }) => connection);
    expect(service.operator.tokens).toHaveLength(3);
    expect([first, second], 'the next poll takes a fresh connection').not.toContain(third);
    expect(logged(service, /cannot be trusted/)).toHaveLength(1);
  });

  test('ends the consent when it comes again on a fresh connection', async () => {
    await using service = await start(polls(pend, denial()), 'auto');
    expect(await tell(service)).toBe('CONSENT_DENIED');
    expect(service.operator.tokens).toHaveLength(3);
  });
});
