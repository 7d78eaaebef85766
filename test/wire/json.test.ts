import { describe, expect, it } from 'vitest';
import { readJsonObject } from '../../src/wire/json.ts';
import { jsonReply } from './replies.ts';

describe('readJsonObject', () => {
  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'application/problem+json',
    'APPLICATION/JSON',
    'application/vnd.camara.v1+json ; charset=utf-8',
  ])('reads a body of type %s', (contentType) => {
    const reply = jsonReply(200, '{"swapped":true}', { 'content-type': contentType });
    expect(readJsonObject(reply)).toEqual({ kind: 'read', body: { swapped: true } });
  });

  it.each([
    ['no type', undefined],
    ['a repeated type', ['application/json', 'application/json']],
    ['HTML', 'text/html'],
    ['JSON sequences', 'application/json-seq'],
    ['JSONP', 'application/jsonp'],
    ['JSON after another type', 'text/html, application/json'],
  ])('refuses %s, whatever the body', (_, contentType) => {
    const headers = { 'content-type': contentType };
    expect(readJsonObject(jsonReply(200, '{"swapped":true}', headers))).toEqual({
      kind: 'flawed',
      flaw: 'no JSON',
    });
  });

  it.each([
    ['half an object', '{"swapped":tr', 'no JSON'],
    ['two objects', '{"swapped":true}{"swapped":true}', 'no JSON'],
    ['null', 'null', 'no JSON object'],
    ['30,000 lists', `{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`, 'nested too deeply'],
    ['65 objects', `${'{"a":'.repeat(64)}{}${'}'.repeat(64)}`, 'nested too deeply'],
    ['a number', '0', 'no JSON object'],
    ['an array', '[{"swapped":true}]', 'no JSON object'],
    ['a member twice', '{"error":"slow_down","error":"access_denied"}', 'a member twice'],
  ])('refuses %s', (_, body, flaw) => {
    expect(readJsonObject(jsonReply(200, body))).toEqual({ kind: 'flawed', flaw });
  });

  it.each([
    ['gzip', 'flawed'],
    ['', 'flawed'],
    [['identity', 'gzip'], 'flawed'],
    ['identity', 'read'],
  ])('an encoding of %j is %s', (encoding, kind) => {
    const reply = jsonReply(200, '{"swapped":false}', { 'content-encoding': encoding });
    expect(readJsonObject(reply).kind).toBe(kind);
  });
});
