import { describe, expect, it } from 'vitest';
import { startWired, type WiredService } from '../service.ts';
import { replying } from '../wiredOperator.ts';

const ASK = 'query ($e164: ID!) { phoneNumber(e164: $e164) { simSwappedWithin } }';

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

/** Of another kind where it is about the number: no owner is kept from being asked by it. */
const NEVER = Infinity;

describe('a refusal of a lookup', () => {
  it.each<[string, Refusal, string, numbers: number]>([
    ['409 ABORTED', camara(409, 'ABORTED'), 'OPERATOR_UNAVAILABLE', NEVER],
    ['422 UNSUPPORTED_IDENTIFIER', camara(422, 'UNSUPPORTED_IDENTIFIER'), REFUSED, NEVER],
    ['422 without a word', [422, {}], REFUSED, NEVER],
    // It may be about a number.
    ['403 PERMISSION_DENIED', camara(403, 'PERMISSION_DENIED'), REFUSED, 6],
    ['403 without a word', [403, {}], REFUSED, 6],
    ['412', camara(412, 'FAILED_PRECONDITION'), REFUSED, 6],
    // It is about us.
    ['401', camara(401, 'UNAUTHENTICATED'), REFUSED, 2],
    ['403 insufficient_scope', [403, { error: 'insufficient_scope' }], REFUSED, 2],
    ['a wrong address', [404, { error: 'Not Found' }], REFUSED, 2],
    ['a method that is not allowed', [405, {}], REFUSED, 2],
    ['a redirect', [302, {}], REFUSED, 2],
  ])('%s is %s, and keeps owners from being asked after %d numbers', async (...row) => {
    const [, refusal, code, numbers] = row;
    await using service = await startRefusing(refusal);
    const { operator } = service;
    const refused = Math.min(numbers, 8);
    expect(await ask(service, refused)).toEqual(Array.from({ length: refused }, () => code));
    expect(operator.count('prompts')).toBe(refused);
    operator.script = {};
    const isKept = numbers !== NEVER;
    expect(await ask(service, 1)).toEqual([isKept ? code : false]);
    expect(operator.count('prompts')).toBe(isKept ? refused : refused + 1);
  });
});
