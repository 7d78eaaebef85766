import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import axeCore from 'axe-core';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser, LAUNCH_OPTIONS, WRITES_PICTURES } from '../../browser.ts';
import { startPage, type PageServer } from '../pageServer.ts';

const PICTURES = fileURLToPath(new URL('../../../docs/mobile-apps', import.meta.url));

/** A laptop, a small laptop and a phone; each scheme at least once. */
const WINDOWS = [
  [1440, 'light'],
  [1024, 'dark'],
  [390, 'light'],
] as const;

describe.skipIf(!hasBrowser())('the page of npm run mobile', () => {
  let server: PageServer;
  let browser: Browser;
  beforeAll(async () => {
    server = await startPage(0);
    browser = await chromium.launch(LAUNCH_OPTIONS);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  it('shows the five screens, and the log says what the phone does not learn', async () => {
    const { page, problems } = await open(browser, server.url);
    const phones: string[] = [];
    const look = async (): Promise<void> => {
      if (WRITES_PICTURES)
        phones.push((await page.locator('.phone').screenshot()).toString('base64'));
      expect(await findings(page)).toEqual([]);
    };
    const title = (name: string) => page.getByRole('heading', { name }).waitFor();
    const choose = (name: string) => page.getByRole('radio', { name }).check();
    const send = () => page.getByRole('button', { name: 'Send me a code' }).click();
    const startAgain = () => page.getByRole('button', { name: 'Start again' }).click();

    await page.getByText('+44 7700 900050').waitFor();
    await look();
    await send();
    await title('Look at your phone');
    // The next request waits until this was looked at.
    const looked = Promise.withResolvers<void>();
    await page.route('**/codes', async (route) => {
      await looked.promise;
      await route.continue();
    });
    await look();
    looked.resolve();
    await title('Enter your code');
    await page.getByText('to your number ending in 050').waitFor();
    await look();

    // The same screen for each of them, whatever the reason is.
    const screens = new Set<string>();
    for (const name of ['bob', 'carol', 'dave', 'erin']) {
      await choose(name);
      await send();
      await title('Sign in another way');
      screens.add(await page.locator('.screen').innerHTML());
      if (name === 'carol') await look();
    }
    expect(screens.size).toBe(1);
    const log = page.getByRole('log');
    for (const reason of [
      'No code for bob: CONSENT_DENIED',
      'No code for carol: SWAPPED',
      'No code for dave: NUMBER_NOT_SERVED',
      'No code for erin: CONSENT_EXPIRED',
    ])
      await log.getByText(reason).waitFor();
    if (WRITES_PICTURES) {
      await mkdir(PICTURES, { recursive: true });
      await page.screenshot({ path: `${PICTURES}/page.png` });
    }

    await choose('alice');
    for (let codes = 1; codes < 3; codes += 1) {
      await send();
      await title('Enter your code');
      await startAgain();
    }
    await page.getByText(/3 SMS/u).waitFor();
    const lookups = await page.locator('.log header').textContent();
    await send();
    await title('Too many codes');
    await look();
    // Nothing was looked up for it.
    expect(await page.locator('.log header').textContent()).toBe(lookups);
    expect(await log.textContent()).not.toMatch(/\d{7}/u);
    expect(problems).toEqual([]);

    if (phones.length > 0) await saveRow(browser, phones);
    await page.close();
  }, 90_000);

  it('of a person is not shown to the next', async () => {
    const { page } = await open(browser, server.url);
    await page.getByRole('radio', { name: 'dave' }).check();
    await page.getByRole('button', { name: 'Send me a code' }).click();
    await page.getByRole('heading', { name: 'Sign in another way' }).waitFor();
    await page.getByRole('radio', { name: 'bob' }).check();
    expect(await page.locator('.screen').textContent()).toContain('+44 7700 900052');
    await page.close();
  });

  it('says that its server has ended', async () => {
    await using ending = await startPage(0);
    const { page } = await open(browser, ending.url);
    await page.getByText('Nothing was requested yet.').waitFor();
    await ending[Symbol.asyncDispose]();
    await page.getByText('The server has ended').waitFor();
    expect(await page.getByRole('log').textContent()).toContain('Nothing was requested yet.');
    await page.close();
  });
});

async function open(
  browser: Browser,
  url: string,
): Promise<{ readonly page: Page; readonly problems: readonly string[] }> {
  const page = await browser.newPage({ locale: 'en-GB', reducedMotion: 'reduce' });
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => {
    // The 429 of the server, which the browser reports as well.
    if (message.type() === 'error' && !message.text().includes('429'))
      problems.push(message.text());
  });
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto(url);
  return { page, problems };
}

/** Of axe-core, and what is wider than its window. */
async function findings(page: Page): Promise<string[]> {
  await page.evaluate(axeCore.source);
  const found: string[] = [];
  for (const [width, colorScheme] of WINDOWS) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    const here = await page.evaluate(async () => {
      const { axe } = globalThis as unknown as { axe: typeof axeCore };
      const { violations } = await axe.run();
      const isWide = document.documentElement.scrollWidth > document.documentElement.clientWidth;
      return [
        ...violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`),
        ...(isWide ? ['the page is wider than its window'] : []),
      ];
    });
    found.push(...here.map((text) => `${width} ${colorScheme}: ${text}`));
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.emulateMedia({ colorScheme: 'light' });
  return found;
}

/** One picture of the five phones. */
async function saveRow(browser: Browser, phones: readonly string[]): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 1480, height: 100 } });
  const images = phones.map((data) => `<img src="data:image/png;base64,${data}">`);
  await page.setContent(
    `<style>body{margin:12px;display:grid;grid-template-columns:repeat(${phones.length},1fr);gap:16px;background:#fff}img{width:100%}</style>${images.join('')}`,
  );
  await page.screenshot({ path: `${PICTURES}/screens.png`, fullPage: true });
  await page.close();
}
