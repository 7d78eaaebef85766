import { describe, expect, it } from 'vitest';
import { readAnswer } from '../../src/judging/answer.ts';
import { jsonReply } from '../wire/replies.ts';

/** Reads `swapped: false` with other members beside it. */
const answerBeside = (members: object, contentType = 'application/json') =>
  readAnswer(jsonReply(200, { swapped: false, ...members }, { 'content-type': contentType }));

describe('readAnswer', () => {
  it.each([
    { code: 'INTERNAL' },
    { code: 404 },
    { error: 'server_error' },
    { error: '' },
    { error: { httpCode: 500 } },
    { error: true },
    { error: 17 },
    { errors: [{ message: 'no such number' }] },
    { fault: { faultstring: 'timeout' } },
    { status: 500 },
    { status: 0 },
    { status: 300 },
    { status: '404 NOT_FOUND' },
    { status: 'ERROR' },
    { status: 'failed' },
    { statusCode: 500 },
    { success: false },
  ])('refuses an answer beside %j', (members) => {
    const flaw = 'an error with the answer';
    expect(answerBeside(members)).toEqual({ kind: 'flawed', flaw });
  });

  it.each([
    { status: 200 },
    { status: '200' },
    { status: 'OK' },
    { code: 0 },
    { code: 200, statusCode: 200 },
    { error: false, errors: [], success: true },
    { error: null, code: null },
  ])('accepts an answer beside %j', (members) => {
    expect(answerBeside(members)).toMatchObject({ kind: 'read', body: { swapped: false } });
  });

  it.each([
    'application/problem+json',
    'APPLICATION/PROBLEM+JSON; charset=utf-8',
    'application/vnd.operator.problem+json',
  ])('refuses a 200 of type %s', (contentType) => {
    const flaw = 'a problem document with a status of success';
    expect(answerBeside({}, contentType)).toEqual({ kind: 'flawed', flaw });
  });

  it('does not take a member named __proto__ for the prototype', () => {
    const read = readAnswer(jsonReply(200, '{"__proto__":{"swapped":false}}'));
    expect(read.kind === 'read' && read.body['swapped']).toBeUndefined();
  });
});
