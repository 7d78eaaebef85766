import { COMMON_ERRORS } from '../../src/http/errorMap.ts';
import { describe, expect, it } from 'vitest';
import { judgeCheck, judgeRetrieveDate } from './camara.ts';
import { jsonReply } from '../http/replies.ts';
import { START_MS } from '../testClock.ts';
import { hours } from '../values.ts';

const EXCHANGE = {
  sentAtMs: START_MS - 200,
  nowMs: START_MS,
  flow: '2-legged',
  errors: COMMON_ERRORS,
} as const;
const INVALID = { failure: { code: 'OPERATOR_INVALID_REPLY', reach: 'question' } };

function check(body: string, contentType = 'application/json') {
  const reply = jsonReply(200, body, { 'content-type': contentType });
  return judgeCheck(reply, EXCHANGE, hours(240));
}

describe('a reply that contradicts itself is not an answer', () => {
  it.each([
    ['a code beside it', '{"swapped":false,"code":"INTERNAL"}'],
    ['an error beside it', '{"swapped":false,"error":"server_error"}'],
    ['an empty error beside it', '{"swapped":false,"error":""}'],
    ['an error with members beside it', '{"swapped":false,"error":{"httpCode":500}}'],
    ['status 500 beside it', '{"swapped":false,"status":500}'],
    ['status 0 beside it', '{"swapped":false,"status":0}'],
    ['status 300 beside it', '{"swapped":false,"status":300}'],
    ['a status with its reason beside it', '{"swapped":false,"status":"404 NOT_FOUND"}'],
    ['a status that is a word of failure', '{"swapped":false,"status":"ERROR"}'],
    ['another word of failure', '{"swapped":false,"status":"failed"}'],
    ['a statusCode of 500 beside it', '{"swapped":false,"statusCode":500}'],
    ['a numeric code that is a status', '{"swapped":false,"code":404}'],
    ['an error that is true', '{"swapped":false,"error":true}'],
    ['an error that is a number', '{"swapped":false,"error":17}'],
    ['errors beside it', '{"swapped":false,"errors":[{"message":"no such number"}]}'],
    ['a fault beside it', '{"swapped":false,"fault":{"faultstring":"timeout"}}'],
    ['no success', '{"swapped":false,"success":false}'],
  ])('%s', (_, body) => {
    expect(check(body)).toMatchObject(INVALID);
  });

  it.each([
    ['E77', 'failed'],
    [77, 'failed'],
    ['077', 'failed'],
    [{}, 'failed'],
    ['00', 'answered'],
    [200, 'answered'],
    [undefined, 'answered'],
    [null, 'answered'],
  ])('nor is one with %j where the operator names its errors: %s', (codigo, kind) => {
    const reply = jsonReply(200, { swapped: false, resultado: { codigo } });
    const errors = { wordAt: [['resultado', 'codigo']], rules: [] };
    expect(judgeCheck(reply, { ...EXCHANGE, errors }, hours(240)).kind).toBe(kind);
  });

  it('nor is a date beside an error', () => {
    const reply = jsonReply(200, '{"latestSimChange":null,"monitoredPeriod":120,"status":503}');
    expect(judgeRetrieveDate(reply, EXCHANGE)).toMatchObject(INVALID);
  });

  it.each([
    'application/problem+json',
    'APPLICATION/PROBLEM+JSON; charset=utf-8',
    'application/vnd.operator.problem+json',
  ])('a 200 of type %s is a problem', (contentType) => {
    expect(check('{"swapped":false}', contentType)).toMatchObject(INVALID);
  });

  it.each([
    ['a status of 200', '{"swapped":false,"status":200}'],
    ['a status of 200 as text', '{"swapped":false,"status":"200"}'],
    ['a status that is a word', '{"swapped":false,"status":"OK"}'],
    ['a numeric code', '{"swapped":false,"code":0}'],
    ['a numeric code of success', '{"swapped":false,"code":200,"statusCode":200}'],
    ['no errors', '{"swapped":false,"error":false,"errors":[],"success":true}'],
    ['a null error', '{"swapped":false,"error":null,"code":null}'],
  ])('%s beside it is no contradiction', (_, body) => {
    expect(check(body)).toMatchObject({ facts: [{ swapped: false }] });
  });
});
