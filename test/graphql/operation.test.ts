import { describe, expect, it } from 'vitest';
import { cutOperation } from '../../src/graphql/operation.ts';

const QUERY = 'query ($n: ID!, $,\n r: [_Any!]!) { __typename }';
const COMMENTED = 'query ($ # its\n r: [_Any!]!) { __typename }';
const NUMBER = '+447700900001';

describe('of a request stays', () => {
  it.each<[what: string, sent: object, kept: object]>([
    ['nothing of unknown members', { query: QUERY, x: [{}] }, { query: QUERY }],
    [
      'of variables, what the document names',
      { query: QUERY, variables: { n: NUMBER, x: 1 } },
      { query: QUERY, variables: { n: NUMBER } },
    ],
    [
      'all variables where a comment may be before a name',
      { query: COMMENTED, variables: { r: NUMBER, x: [{}] } },
      { query: COMMENTED, variables: { r: NUMBER, x: [{}] } },
    ],
    [
      'no variable named __proto__',
      JSON.parse('{"query":"{a}","variables":{"__proto__":{"n":1}}}') as object,
      { query: '{a}', variables: {} },
    ],
    [
      'of a representation, its type and number',
      { query: QUERY, variables: { r: [{ __typename: 'PhoneNumber', e164: NUMBER, x: [{}] }] } },
      { query: QUERY, variables: { r: [{ __typename: 'PhoneNumber', e164: NUMBER }] } },
    ],
    [
      'of other types, their kind',
      { query: QUERY, variables: { n: { a: [] }, r: [[[1]], 1, null, { e164: {} }] } },
      { query: QUERY, variables: { n: {}, r: [[], 1, null, {}] } },
    ],
    [
      'of what is no object, its kind',
      { query: [1], variables: 'x', operationName: { a: 1 } },
      { query: [], variables: '', operationName: {} },
    ],
    ['null', { query: null, variables: null }, { query: null, variables: null }],
  ])('%s', (_, sent, kept) => {
    expect(cutOperation({ ...sent }, 2).members).toEqual(kept);
  });

  it('no list of more than ten times the numbers of an operation', () => {
    const tooLong = [20, 21].map(
      (count) =>
        cutOperation({ query: QUERY, variables: { r: Array(count).fill(NUMBER) } }, 2).tooLongList,
    );
    expect(tooLong).toEqual([undefined, 21]);
  });

  it.each(['$#', '$a', '$,', '$ ', '#$\n'])(
    'the variables of %j again and again, found in little time',
    (text) => {
      const query = text.repeat(120_000);
      const before = process.cpuUsage();
      cutOperation({ query, variables: { a: 1 } }, 2);
      // The first took 37 seconds, and others' requests waited.
      expect(process.cpuUsage(before).user).toBeLessThan(300_000);
    },
  );

  it('64 bytes a node and 2 a character', () => {
    const { heldBytes } = cutOperation({ query: '{$a}', variables: { a: ['+1', 2] } }, 2);
    // The document, the name, the list, and its members.
    expect(heldBytes).toBe(64 + 8 + (64 + 2) + 64 + 2 * 64 + (64 + 4));
  });
});
