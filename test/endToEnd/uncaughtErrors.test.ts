import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/temporary.ts';
import { ServerProcess } from './serverProcess.ts';

const NUMBER = '+447700900001';

/** Runs in the process, as a function of a profile does. */
const FAILING = `process.on('SIGUSR2', () => {
  const error = new RangeError('No luck with ${NUMBER} and swordfish');
  FAIL
});`;

const MADE_AT = /^\S*own\.mjs:2:17/;

test.each([
  ['thrown in a timer', 'setTimeout(() => { throw error; });', 'RangeError', MADE_AT],
  ['a rejection that nothing handles', 'Promise.reject(error);', 'RangeError', MADE_AT],
  [
    'a rejection with a text',
    'Promise.reject(error.message);',
    'ERR_UNHANDLED_REJECTION',
    /^(?:node:.*)?$/,
  ],
])(
  'an error that nothing catches ends the process, and is not quoted: %s',
  async (_, fail, name, place) => {
    const path = join(temporaryFolder(), 'own.mjs');
    writeFileSync(path, FAILING.replace('FAIL', fail));
    const options = `NODE_OPTIONS=--import=${path}`;
    await using server = await ServerProcess.start('http://127.0.0.1:1', {}, ['env', options]);

    server.signal('SIGUSR2');

    expect(await server.ended).toEqual({ code: 1, signal: null });
    const lines = server.logged(
      'The process ends because of an error that nothing caught. Report it.',
    );
    expect(lines).toMatchObject([{ level: 50, error: name, at: expect.any(String) }]);
    expect(lines[0]?.['at']).toMatch(place);
    expect(server.out + server.err).not.toMatch(/7700|swordfish/);
    expect(server.err).toBe('');
  },
);
