import { describe, expect, it } from 'vitest';
import { startWired, type WiredService } from '../service.ts';
import { replying } from '../wiredOperator.ts';

const ASK = 'query ($e164: ID!) { phoneNumber(e164: $e164) { simSwappedWithin } }';

/** A refusal of a lookup: a status and a body. */
type Refusal = readonly [status: number, body: unknown];

function camara(status: number, code: string): Refusal {
  return [status, { status, code, message: 'No.' }];
}

/** An operator of the 3-legged flow that refuses lookups as long as its script says so. */
function startRefusing([status, body]: Refusal): Promise<WiredService> {
  const settings = { OPERATOR_FLOW: '3-legged', OPERATOR_SEND_PHONE_NUMBER: 'always' };
  return startWired({ lookUp: replying(body, status) }, settings);
}

let asked = 0;

/** Asks about one number after another, of which none was asked about before; returns the errors and answers. */
async function ask(service: WiredService, numbers: number): Promise<unknown[]> {
  const told: unknown[] = [];
  for (let count = 0; count < numbers; count += 1) {
    asked += 1;
    const e164 = `+4477009${String(asked).padStart(5, '0')}`;
    const reply = await service.ask(ASK, { e164 });
    told.push(reply.codes[0] ?? reply.data.phoneNumber.simSwappedWithin);
  }
  return told;
}

const REFUSED = 'OPERATOR_REFUSED';

describe('a refusal that is about a number', () => {
  it.each<[string, Refusal, string]>([
    ['409 ABORTED', camara(409, 'ABORTED'), 'OPERATOR_UNAVAILABLE'],
    ['409 CONFLICT', camara(409, 'CONFLICT'), 'OPERATOR_UNAVAILABLE'],
    ['409 INCOMPATIBLE_STATE', camara(409, 'INCOMPATIBLE_STATE'), 'OPERATOR_UNAVAILABLE'],
    ['422 UNSUPPORTED_IDENTIFIER', camara(422, 'UNSUPPORTED_IDENTIFIER'), REFUSED],
    ['422 without a word', [422, {}], REFUSED],
  ])('%s about eight numbers keeps no other owner from being asked', async (_, refusal, code) => {
    await using service = await startRefusing(refusal);
    const { operator } = service;
    expect(new Set(await ask(service, 8))).toEqual(new Set([code]));
    operator.script = {};
    expect(await ask(service, 1)).toEqual([false]);
    expect(operator.count('prompts')).toBe(9);
  });
});

describe('a refusal that may be about a number', () => {
  it.each<[string, Refusal]>([
    ['403 PERMISSION_DENIED', camara(403, 'PERMISSION_DENIED')],
    ['403 INVALID_TOKEN_CONTEXT', camara(403, 'INVALID_TOKEN_CONTEXT')],
    ['403 without a word', [403, {}]],
    ['412', camara(412, 'FAILED_PRECONDITION')],
    ['415', camara(415, 'UNSUPPORTED_MEDIA_TYPE')],
  ])('%s keeps owners from being asked after six numbers, and not before', async (_, refusal) => {
    await using service = await startRefusing(refusal);
    const { operator } = service;
    await ask(service, 5);
    expect(operator.count('prompts')).toBe(5);
    expect(await ask(service, 1)).toEqual([REFUSED]);
    expect(operator.count('prompts')).toBe(6);
    operator.script = {};
    expect(await ask(service, 2)).toEqual([REFUSED, REFUSED]);
    expect(operator.count('prompts')).toBe(6);
  });

  it('a lookup that is answered resets the count', async () => {
    const refusal = camara(403, 'PERMISSION_DENIED');
    await using service = await startRefusing(refusal);
    const { operator } = service;
    const { script } = operator;
    for (let round = 0; round < 3; round += 1) {
      operator.script = script;
      await ask(service, 5);
      operator.script = {};
      expect(await ask(service, 1)).toEqual([false]);
    }
    expect(operator.count('prompts')).toBe(18);
  });
});

describe('a refusal of us', () => {
  it.each<[string, Refusal]>([
    ['401', camara(401, 'UNAUTHENTICATED')],
    ['403 insufficient_scope', [403, { error: 'insufficient_scope' }]],
    ['a wrong address', [404, { error: 'Not Found' }]],
    ['a method that is not allowed', [405, {}]],
    ['a redirect', [302, {}]],
  ])('%s keeps owners from being asked after two numbers', async (_, refusal) => {
    await using service = await startRefusing(refusal);
    const { operator } = service;
    expect(await ask(service, 2)).toEqual([REFUSED, REFUSED]);
    expect(operator.count('prompts')).toBe(2);
    operator.script = {};
    expect(await ask(service, 1)).toEqual([REFUSED]);
    expect(operator.count('prompts')).toBe(2);
  });
});
