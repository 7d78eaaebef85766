import { expect, test } from 'vitest';
import { NpmProcess } from '../../../test/package/npmProcess.ts';

test.each([
  ['SIGTERM to npm', (npm: NpmProcess) => npm.signal('SIGTERM')],
  ['SIGKILL to npm', (npm: NpmProcess) => npm.signal('SIGKILL')],
  ['Ctrl-C', (npm: NpmProcess) => npm.signalGroup('SIGINT')],
])(
  'npm run supergraph: %s ends the gateway, both subgraphs and the operator',
  async (_name, signal) => {
    const npm = new NpmProcess(['run', 'supergraph']);
    const [, gateway = ''] = await npm.written(/^gateway +(http:\S+)/m);
    await npm.written(/Ctrl-C ends all/);

    signal(npm);

    // All of them share npm's output, which ends with the last.
    await npm.ended;
    expect(npm.out).toMatch(/\nStopping …\n$/);
    expect(npm.out + npm.err).not.toMatch(/^\s+at |Error:/m);
    await expect(fetch(gateway)).rejects.toThrow('fetch failed');
  },
);
