import { describe, expect, it } from 'vitest';
import { startService, type Service } from '../service.ts';
import { answerNever, replying, WiredOperator } from '../wiredOperator.ts';

const ASK = 'query ($e164: ID!) { phoneNumber(e164: $e164) { simSwappedWithin } }';

/** A refusal of a lookup: a status and a body. */
type Refusal = readonly [status: number, body: unknown];

function camara(status: number, code: string): Refusal {
  return [status, { status, code, message: 'No.' }];
}

/** An operator of the 3-legged flow that refuses the lookups so long as `refusal` is there. */
class Refusing implements AsyncDisposable {
  refusal: Refusal | undefined;
  readonly #operator: WiredOperator;
  readonly #service: Service;
  #asked = 0;

  private constructor(operator: WiredOperator, service: Service) {
    this.#operator = operator;
    this.#service = service;
  }

  static async start(refusal: Refusal): Promise<Refusing> {
    const operator = await WiredOperator.start({
      lookUp: (received, response) => {
        const [status, body] = refusing.refusal ?? [];
        (status === undefined ? answerNever : replying(body, status))(received, response);
      },
    });
    const service = await startService(operator.url, {
      OPERATOR_FLOW: '3-legged',
      OPERATOR_SEND_PHONE_NUMBER: 'always',
    });
    const refusing = new Refusing(operator, service);
    refusing.refusal = refusal;
    return refusing;
  }

  get prompts(): number {
    return this.#operator.prompts.length;
  }

  /** Asks about one number after another, of which none was asked about before; returns the errors and answers. */
  async ask(numbers: number): Promise<unknown[]> {
    const told: unknown[] = [];
    for (let count = 0; count < numbers; count += 1) {
      this.#asked += 1;
      const e164 = `+4477009${String(this.#asked).padStart(5, '0')}`;
      const reply = await this.#service.ask(ASK, { e164 });
      told.push(reply.codes[0] ?? reply.data.phoneNumber.simSwappedWithin);
    }
    return told;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#service.stop();
    await this.#operator[Symbol.asyncDispose]();
  }
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
    await using refusing = await Refusing.start(refusal);
    expect(new Set(await refusing.ask(8))).toEqual(new Set([code]));
    refusing.refusal = undefined;
    expect(await refusing.ask(1)).toEqual([false]);
    expect(refusing.prompts).toBe(9);
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
    await using refusing = await Refusing.start(refusal);
    await refusing.ask(5);
    expect(refusing.prompts).toBe(5);
    expect(await refusing.ask(1)).toEqual([REFUSED]);
    expect(refusing.prompts).toBe(6);
    refusing.refusal = undefined;
    expect(await refusing.ask(2)).toEqual([REFUSED, REFUSED]);
    expect(refusing.prompts).toBe(6);
  });

  it('a lookup that is answered resets the count', async () => {
    const refusal = camara(403, 'PERMISSION_DENIED');
    await using refusing = await Refusing.start(refusal);
    for (let round = 0; round < 3; round += 1) {
      refusing.refusal = refusal;
      await refusing.ask(5);
      refusing.refusal = undefined;
      expect(await refusing.ask(1)).toEqual([false]);
    }
    expect(refusing.prompts).toBe(18);
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
    await using refusing = await Refusing.start(refusal);
    expect(await refusing.ask(2)).toEqual([REFUSED, REFUSED]);
    expect(refusing.prompts).toBe(2);
    refusing.refusal = undefined;
    expect(await refusing.ask(1)).toEqual([REFUSED]);
    expect(refusing.prompts).toBe(2);
  });
});
