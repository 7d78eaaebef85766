import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { CLIENT_ID } from '../../demo/people.ts';
import { startStack } from '../../demo/stack.ts';
import {
  checkList,
  crowd,
  hasBrowser,
  launchBrowser,
  openSignedIn,
  operatorCounts,
  tiles,
} from './browser.ts';

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

describe.skipIf(!hasBrowser())('the end of what can be asked', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());
  const desk = { pageDirectory: inject('pageDirectory') };

  it('is a quota: checking pauses, says until when, and keeps what was answered', async () => {
    const quotas = { [CLIENT_ID]: { numbersPerHour: 150, lookupsPerHour: 1000 } };
    await using stack = await startStack({
      desk,
      service: { QUOTA_CLIENTS: JSON.stringify(quotas) },
    });
    await using opened = await openSignedIn(browser, stack);
    const { page, problems } = opened;
    await checkList(page, crowd(400));
    await page.getByText('Quota exceeded.').waitFor();
    expect(await page.getByRole('alert').innerText()).toMatch(
      /until the quota refills at \d\d:\d\d/u,
    );
    await page.locator('.quota').first().waitFor();
    expect((await page.locator('.quota').allInnerTexts()).join('\n')).toMatch(/0 of 150 left/u);
    await expect.poll(async () => (await tiles(page))['Not checked']).toBeGreaterThan(0);
    const { tokens } = await operatorCounts(stack);
    expect(tokens).toBeLessThanOrEqual(2 * 150);
    expect(problems).toEqual([]);
  });

  it('is an operator that is away: one banner, and no more questions', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'operator-away-'));
    const away = `http://127.0.0.1:${await closedPort()}`;
    const operator = {
      name: 'away',
      prefixes: ['default'],
      flow: '2-legged',
      authUrl: away,
      simSwapUrl: away,
      client: { method: 'basic', id: 'desk', secret: { variable: 'DEMO_CLIENT_SECRET' } },
    };
    const file = join(directory, 'operators.json');
    await writeFile(file, JSON.stringify({ operators: [operator] }));
    await using stack = await startStack({ desk, service: { OPERATORS_FILE: file } });
    await using opened = await openSignedIn(browser, stack);
    const { page, problems } = opened;
    await checkList(page, crowd(400));
    await page.getByText('Checking is paused until you resume it.').waitFor();
    expect(await page.getByRole('alert').count()).toBe(1);
    expect(await page.getByRole('alert').innerText()).toContain('The operator cannot be reached.');
    await page.getByText('Paused', { exact: true }).first().waitFor();
    await expect.poll(async () => (await tiles(page))['Not checked']).toBeGreaterThan(200);
    expect(await tiles(page)).not.toHaveProperty('No change');
    expect(problems).toEqual([]);
  });
});
