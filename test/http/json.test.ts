import { describe, expect, it } from 'vitest';
import { readAnswer, readJsonObject } from '../../src/http/json.ts';
import { jsonReply } from './replies.ts';

describe('readJsonObject', () => {
  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'APPLICATION/JSON',
    'application/problem+json',
    'application/vnd.camara.v1+json ; charset=utf-8',
  ])('reads a body of type %s', (contentType) => {
    const reply = jsonReply(200, '{"swapped":true}', { 'content-type': contentType });
    expect(readJsonObject(reply)).toEqual({ kind: 'read', body: { swapped: true } });
  });

  it.each([
    ['no type', undefined],
    ['an empty type', ''],
    ['a repeated type', ['application/json', 'application/json']],
    ['HTML', 'text/html'],
    ['text', 'text/plain; charset=utf-8'],
    ['text/json', 'text/json'],
    ['JSON sequences', 'application/json-seq'],
    ['JSONP', 'application/jsonp'],
    ['JSON named behind another type', 'text/html, application/json'],
    ['two types in one', 'application/json, text/html'],
  ])('refuses %s, whatever the body', (_, contentType) => {
    const reply = jsonReply(200, '{"swapped":true}', { 'content-type': contentType });
    expect(readJsonObject(reply)).toEqual({ kind: 'flawed', flaw: 'no JSON' });
  });

  it.each([
    ['nothing', ''],
    ['half an object', '{"swapped":tr'],
    ['two objects', '{"swapped":true}{"swapped":true}'],
    ['single quotes', "{'swapped':true}"],
    ['a comma too many', '{"swapped":true,}'],
    ['a comment', '{"swapped":true/**/}'],
    ['NaN', '{"interval":NaN}'],
    ['a page', '<html></html>'],
  ])('refuses %s', (_, body) => {
    expect(readJsonObject(jsonReply(200, body))).toEqual({ kind: 'flawed', flaw: 'no JSON' });
  });

  it.each([
    ['null', 'null'],
    ['a boolean', 'false'],
    ['a number', '0'],
    ['a string', '"swapped"'],
    ['an array', '[{"swapped":true}]'],
  ])('refuses %s, which is no object', (_, body) => {
    expect(readJsonObject(jsonReply(200, body))).toEqual({
      kind: 'flawed',
      flaw: 'no JSON object',
    });
  });

  it.each(['gzip', 'br', '', ['identity', 'gzip']])('refuses an encoding of %j', (encoding) => {
    const reply = jsonReply(200, '{"swapped":false}', { 'content-encoding': encoding });
    expect(readJsonObject(reply)).toEqual({
      kind: 'flawed',
      flaw: 'an encoding that was not requested',
    });
  });

  it('takes the encoding that is none', () => {
    const reply = jsonReply(200, '{"swapped":false}', { 'content-encoding': 'identity' });
    expect(readJsonObject(reply)).toEqual({ kind: 'read', body: { swapped: false } });
  });

  it('refuses a duplicate member', () => {
    const reply = jsonReply(400, '{"error":"authorization_pending","error":"access_denied"}');
    expect(readJsonObject(reply)).toEqual({ kind: 'flawed', flaw: 'a member twice' });
  });

  it('takes a member named __proto__ for a member and for nothing else', () => {
    const read = readAnswer(jsonReply(200, '{"__proto__":{"swapped":false}}'));
    expect(read.kind === 'read' && read.body['swapped']).toBeUndefined();
  });
});
