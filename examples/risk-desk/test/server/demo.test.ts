import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { NpmProcess } from '../../../../test/package/npmProcess.ts';
import { PEOPLE } from '../../demo/people.ts';
import { SignedIn } from './httpBrowser.ts';

const DESK_PORT = 4100;

/** Lookups about one are never answered; the other has a new SIM. */
const [SILENT, SWAPPED] = ['+447700900016', '+447700900001'];

/** Listens where the demo wants to, or leaves it to the program that does already. */
async function takePort(port: number): Promise<void> {
  const server: Server = createServer();
  onTestFinished(() => void server.close());
  const listening = once(server, 'listening');
  const failed = once(server, 'error');
  server.listen(port, '127.0.0.1');
  await Promise.race([listening, failed]);
}

describe('npm run demo', () => {
  it.each([
    ['SIGTERM to npm', (npm: NpmProcess) => npm.signal('SIGTERM')],
    ['Ctrl-C', (npm: NpmProcess) => npm.signalGroup('SIGINT')],
  ])('prints where it is and who may sign in; %s ends all of it', async (_, signal) => {
    const npm = new NpmProcess(['run', 'demo']);
    const [, desk = ''] = await npm.written(/^The risk desk +(http:\S+)/m);
    const [, gateway = ''] = await npm.written(/^gateway +(http:\S+)/m);
    await npm.written(/Ctrl-C ends all/);
    expect(npm.out).toMatch(/^ {2}ana +password one-case-at-a-time/m);
    expect(npm.out).toMatch(/^ {2}lea +password ten-thousand-cases/m);
    const page = await fetch(desk);
    expect(await page.text()).toMatch(/<script type="module"[^>]* src="\/assets\//);

    // The gateway would quote its query to a page that cancels.
    const lead = await SignedIn.as(desk, PEOPLE.lead);
    const cancelling = new AbortController();
    const asked = lead.ask([SILENT], { signal: cancelling.signal });
    setTimeout(() => cancelling.abort(), 500);
    await expect(asked).rejects.toThrow('aborted');
    await lead.ask([SWAPPED]);
    await lead.post('{"query":"mutation { a }"}');

    signal(npm);

    // All of them share npm's output, which ends with the last.
    await npm.ended;
    expect(npm.out).toMatch(/\nStopping …\n$/);
    expect(npm.out + npm.err).not.toMatch(/^\s+at |Error:|WARNING/m);
    // Colours are for people's own programs; an error of the gateway is a line.
    expect(npm.out + npm.err).not.toContain('\u001b[');
    expect(npm.out + npm.err).not.toMatch(/7700 ?900|Bearer|eyJ/);
    for (const url of [desk, gateway]) await expect(fetch(url)).rejects.toThrow('fetch failed');
  });

  it('says which port it needs, and starts nothing, where another program has it', async () => {
    await takePort(DESK_PORT);
    const npm = new NpmProcess(['run', 'demo']);
    const { code } = await npm.ended;
    expect(code).toBe(1);
    expect(npm.out).toContain(
      'Port 4100 is in use, and the demo needs it. End what listens there, and try again.',
    );
    expect(npm.out + npm.err).not.toMatch(/^\s+at /m);
  });
});
