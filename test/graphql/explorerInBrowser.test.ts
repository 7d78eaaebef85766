import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { explorerOpening } from '../../src/app/firstQuery.ts';
import { IS_LONG } from '../support/forms.ts';
import { startService } from '../support/service.ts';
import { temporaryFolder } from '../support/temporary.ts';

const BROWSER = '/usr/bin/chromium';
/** It needs no network but the service's; what it would fetch by itself is switched off. */
const OPTIONS =
  '--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking ' +
  '--disable-component-update --disable-sync --virtual-time-budget=15000 --dump-dom';

/** Serves at a port, 0 for any, while the explorer is opened; resolves to the port and the editor's text. */
async function opened(
  role: 'bff' | 'subgraph',
  port: number,
  profile: string,
): Promise<[number, string]> {
  const opening = explorerOpening({ role, isSimulated: false, headers: {} });
  const settings = { ROLE: role, PORT: String(port) };
  await using server = await startService('http://127.0.0.1:1', settings, {
    explorerOpening: opening,
  });
  const { stdout } = await promisify(execFile)(
    BROWSER,
    [...OPTIONS.split(' '), `--user-data-dir=${profile}`, `${server.url}/graphql`],
    { maxBuffer: 64 * 1024 * 1024, timeout: 60_000 },
  );
  const words = Array.from(stdout.matchAll(/mtk\d+">([^<]*)/g), ([, word]) => word);
  return [Number(new URL(server.url).port), words.join(' ')];
}

const IS_THERE = existsSync(BROWSER);
if (IS_LONG && !IS_THERE) {
  process.stderr.write(
    `The explorer in a browser is left out, for there is no ${BROWSER}; to have it: apt-get install -y chromium\n`,
  );
}

// Twice a browser takes longer than most files: explorer.test.ts reads the page without one.
test.skipIf(!IS_LONG || !IS_THERE)(
  'the explorer opens with a query of its role, whatever was tried at the same address',
  async () => {
    const profile = temporaryFolder();
    const [port, bff] = await opened('bff', 0, profile);
    expect(bff).toContain('phoneNumber');

    const [, subgraph] = await opened('subgraph', port, profile);
    expect(subgraph).toContain('_entities');
    expect(subgraph).not.toMatch(/\bphoneNumber\b/);
  },
  150_000,
);
