import { describe, expect, it } from 'vitest';
import type { ServerResponse } from 'node:http';
import type { Environment } from '../../src/config/environment.ts';
import type { Received } from '../wire/recordingServer.ts';
import { operatorNamed, SeveralOperators, window } from '../support/severalOperators.ts';
import { WiredOperator } from '../support/wiredOperator.ts';
import { line } from './askedSimSwaps.ts';

const REFUSED: Environment = { OPERATOR_TOKEN_MISMATCH: 'refused' };

interface Seen {
  readonly tokens: string[];
  readonly tokenConnections: Set<unknown>;
  refused: number;
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

/** An operator that echoes nothing; `tokenFor` decides which number a token request gets a token for. */
async function silentOperator(
  tokenFor: (asked: string, count: number) => string,
  onMismatch: 'refuses' | 'answers by the token',
): Promise<{ operator: WiredOperator; seen: Seen }> {
  const seen: Seen = { tokens: [], tokenConnections: new Set(), refused: 0 };
  const operator = await WiredOperator.start({
    token: (received, response) => {
      seen.tokenConnections.add(received.connection);
      const asked = new URLSearchParams(received.body).get('username') ?? '';
      const access_token = tokenFor(asked.replace('tel:', ''), seen.tokens.length);
      seen.tokens.push(access_token);
      reply(response, 200, { access_token, token_type: 'Bearer', expires_in: 60 });
    },
    lookUp: (received, response) => {
      const token = String(received.headers.authorization).replace('Bearer ', '');
      const owner = token.split('.')[0] ?? '';
      const { phoneNumber } = bodyOf(received);
      if (onMismatch === 'refuses' && owner !== phoneNumber.slice(1)) {
        seen.refused += 1;
        reply(response, 403, { status: 403, code: 'INVALID_TOKEN_CONTEXT', message: '' });
        return;
      }
      reply(response, 200, { swapped: owner.endsWith('2') });
    },
  });
  return { operator, seen };
}

function bodyOf({ body }: Received): { phoneNumber: string } {
  return JSON.parse(body) as { phoneNumber: string };
}

function ownToken(asked: string, count: number): string {
  return `${asked.slice(1)}.${count}`;
}

async function askInTurn(
  operator: WiredOperator,
  environment: Environment,
  lines: readonly number[],
): Promise<unknown[]> {
  const settings = operatorNamed('one', operator.url, {}, environment);
  await using asked = new SeveralOperators([{ ...settings, prefixes: ['default'] }]);
  const answers: unknown[] = [];
  for (const index of lines) {
    answers.push(await window(asked.request(), line(index)));
    await new Promise((resolve) => setImmediate(resolve));
  }
  return answers;
}

describe('a token endpoint that echoes nothing, over HTTP/1.1', () => {
  it('takes a fresh connection each time unless the operator refuses tokens of other numbers', async () => {
    const { operator, seen } = await silentOperator(ownToken, 'answers by the token');
    await using _ = operator;
    expect(await askInTurn(operator, {}, [1, 2, 3, 4])).toEqual([false, true, false, false]);
    expect(seen.tokenConnections.size).toBe(4);
  });

  it('keeps its connection where it does', async () => {
    const { operator, seen } = await silentOperator(ownToken, 'refuses');
    await using _ = operator;
    expect(await askInTurn(operator, REFUSED, [1, 2, 3, 4])).toEqual([false, true, false, false]);
    expect(seen.tokenConnections.size).toBe(1);
  });

  it('drops a token that was issued before, and acquires one on a fresh connection', async () => {
    const { operator, seen } = await silentOperator(
      (asked, count) => (count === 2 ? (seen.tokens[1] ?? '') : ownToken(asked, count)),
      'refuses',
    );
    await using _ = operator;
    expect(await askInTurn(operator, REFUSED, [1, 2, 3])).toEqual([false, true, false]);
    expect(seen.tokens).toHaveLength(4);
    expect(seen.refused).toBe(0);
    expect(seen.tokenConnections.size).toBe(2);
  });

  it.each([
    ['twice', 2, false],
    ['for ever', Infinity, 'OPERATOR_INVALID_REPLY'],
  ])('presents no token twice that is issued again %s', async (_times, times, last) => {
    const { operator, seen } = await silentOperator(
      (asked, count) =>
        count >= 1 && count <= times ? (seen.tokens[0] ?? '') : ownToken(asked, count),
      'refuses',
    );
    await using _ = operator;
    const answers = await askInTurn(operator, REFUSED, [1, 1]);
    expect(answers).toEqual([false, last]);
    const presented = operator.lookups.map(({ headers }) => headers.authorization);
    expect(new Set(presented).size).toBe(presented.length);
    // The one of the first request, and at most three of the second.
    expect(seen.tokens).toHaveLength(4);
  });

  it('after a refused token of another number, looks the number up with one of a fresh connection', async () => {
    const { operator, seen } = await silentOperator(
      (asked, count) => ownToken(count === 1 ? line(2) : asked, count),
      'refuses',
    );
    await using _ = operator;
    expect(await askInTurn(operator, REFUSED, [1, 3, 4])).toEqual([false, false, false]);
    expect(seen.refused).toBe(1);
    expect(seen.tokens).toHaveLength(4);
    // The first was kept, the others are fresh for a while.
    expect(seen.tokenConnections.size).toBe(3);
  });
});
