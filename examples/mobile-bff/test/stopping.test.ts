import { expect, test } from 'vitest';
import { NpmProcess } from '../../../test/package/npmProcess.ts';

test.each([
  ['SIGTERM to npm', (npm: NpmProcess) => npm.signal('SIGTERM')],
  ['SIGKILL to npm', (npm: NpmProcess) => npm.signal('SIGKILL')],
  ['Ctrl-C', (npm: NpmProcess) => npm.signalGroup('SIGINT')],
])(
  'npm run mobile: %s ends the app, its server, the BFF and the operator',
  async (_name, signal) => {
    const npm = new NpmProcess(['run', 'mobile']);
    const [, bff = ''] = await npm.written(/the BFF at (http:\S+?),/);
    await npm.written(/pending/);

    signal(npm);

    // All of them share npm's output, which ends with the last.
    await npm.ended;
    expect(npm.out).toMatch(/\nStopped\.\n$/);
    expect(npm.out + npm.err).not.toMatch(/^\s+at |Error:/m);
    await expect(fetch(bff)).rejects.toThrow('fetch failed');
  },
);
