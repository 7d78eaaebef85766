import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import axeCore from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startStack, type Stack } from '../../demo/stack.ts';
import {
  allChecked,
  choosePurpose,
  crowd,
  hasBrowser,
  launchBrowser,
  openDesk,
  signIn,
  typePassword,
  upload,
} from './browser.ts';
import { Pictures } from './pictures.ts';

const SAMPLE = fileURLToPath(new URL('../../sample.csv', import.meta.url));

async function axeFindings(page: Page): Promise<string[]> {
  // By the debugger, which the page's policy does not bind.
  await page.evaluate(axeCore.source);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: typeof axeCore };
    const { violations } = await axe.run();
    return violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 200)).join(' | ')}`,
    );
  });
}

/** What is written over something else, or cut off at the side. */
async function overlaps(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth > width)
      found.push('the page is wider than its window');
    const selectors = ['.topbar > *', '.tile > *', '.tools > *', '.total > *', '.runbar > *'];
    for (const selector of selectors) {
      const boxes = [...document.querySelectorAll(selector)]
        .filter((element) => element.checkVisibility() && !element.matches('.visually-hidden'))
        .map((element) => ({ element, box: element.getBoundingClientRect() }));
      for (const [index, { element, box }] of boxes.entries()) {
        if (box.width > 0 && box.right > width + 1) found.push(`${element.className} is cut off`);
        if (element.scrollWidth > element.clientWidth + 1 && selector === '.tile > *') {
          found.push(`${element.textContent} is cut off`);
        }
        for (const other of boxes.slice(index + 1)) {
          const isOver =
            box.left < other.box.right - 1 &&
            other.box.left < box.right - 1 &&
            box.top < other.box.bottom - 1 &&
            other.box.top < box.bottom - 1;
          if (isOver) found.push(`${element.className} over ${other.element.className}`);
        }
      }
    }
    return found;
  });
}

/** The window and colours of each; the last two are a small laptop, and 200 % of a large one. */
const MODES = [
  ['light', { colorScheme: 'light', width: 1280, height: 800 }],
  ['dark', { colorScheme: 'dark', width: 1280, height: 800 }],
  ['phone', { colorScheme: 'light', width: 320, height: 640 }],
  ['1024 px', { colorScheme: 'light', width: 1024, height: 768 }],
  ['200 %', { colorScheme: 'light', width: 640, height: 400 }],
] as const;

describe.skipIf(!hasBrowser())('eight views of the desk', () => {
  let stack: Stack;
  let browser: Browser;
  beforeAll(async () => {
    stack = await startStack({ desk: { pageDirectory: inject('pageDirectory') } });
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
  });

  it('have no findings of axe-core and no overlaps in any mode', async () => {
    const pictures = new Pictures();
    await using desk = await openDesk(browser, stack);
    const { page, problems } = desk;
    const look = async (view: string): Promise<void> => {
      for (const [mode, { colorScheme, ...window }] of MODES) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize(window);
        await pictures.take(page, mode, view);
        const found = { axe: await axeFindings(page), overlaps: await overlaps(page) };
        expect([view, mode, found]).toEqual([view, mode, { axe: [], overlaps: [] }]);
      }
      await page.emulateMedia({ colorScheme: 'light' });
      await page.setViewportSize({ width: 1280, height: 800 });
    };
    await page.getByRole('link', { name: 'Sign in' }).waitFor();
    await look('sign-in');
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.getByLabel('Name').waitFor();
    expect(
      await page.evaluate(() =>
        document.fonts.ready.then((all) => [...all].map(({ status }) => status)),
      ),
    ).toEqual(['loaded']);
    expect(await axeFindings(page)).toEqual([]);
    await typePassword(page, stack, 'lead');
    await page.getByRole('heading', { name: 'Check a list' }).waitFor();
    await look('start');
    await choosePurpose(page);
    await upload(page, await readFile(SAMPLE, 'utf8'));
    await page.getByRole('button', { name: /^Check 154/u }).waitFor();
    await look('review');
    await page.getByRole('button', { name: /^Check 154/u }).click();
    await allChecked(page);
    await page.getByText('All checked', { exact: true }).waitFor({ state: 'attached' });
    await look('list');
    await page.locator('.rows__row').nth(4).locator('.rows__cell').first().click();
    await page.getByRole('dialog').waitFor();
    await look('case');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByRole('dialog').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('searchbox').fill('zzz');
    await page.getByText('No numbers match').waitFor();
    expect(await axeFindings(page)).toEqual([]);

    await page.getByRole('button', { name: 'Single number' }).click();
    await page.getByLabel('Phone number').fill('+447700900051');
    await page.getByRole('button', { name: 'Check', exact: true }).click();
    await page.getByRole('heading', { name: 'Needs the owner’s consent' }).waitFor();
    await look('consent');
    // Beside those of this session.
    await page.getByLabel('Phone number').fill('+447700900001');
    await page.getByRole('button', { name: 'Check', exact: true }).click();
    await page.getByRole('heading', { name: 'SIM changed within 24 h' }).waitFor();
    expect(await axeFindings(page)).toEqual([]);

    // While a list is checked; and an operator that cannot be reached, by the service's own code.
    await page.getByRole('button', { name: 'List', exact: true }).click();
    await page.getByRole('button', { name: 'New list' }).click();
    await page.getByRole('button', { name: 'Clear', exact: true }).click();
    let isAway = false;
    await page.route('**/graphql', async (route) => {
      if (!isAway) await route.continue();
      else
        await route.fulfill({
          json: { errors: [{ message: '', extensions: { code: 'OPERATOR_UNAVAILABLE' } }] },
        });
    });
    await upload(page, crowd(10_000).join('\n'));
    await page.getByRole('button', { name: /^Check 10,000/u }).click();
    await page.getByText(/about .* left/u).waitFor();
    await look('checking');
    isAway = true;
    await page.getByText('Checking is paused until you resume it.').waitFor();
    await look('outage');
    await pictures.save(browser);
    expect(problems).toEqual([]);
  }, 180_000);

  it('do not move where reduced motion is preferred, and change their colour scheme by a switch', async () => {
    await using desk = await openDesk(browser, stack);
    const { page } = desk;
    await signIn(page, stack, 'lead');
    await choosePurpose(page);
    await upload(page, '+447700900001');
    await page.getByRole('button', { name: /^Check 1 /u }).click();
    await allChecked(page);
    await page.locator('.rows__cell').first().click();
    await page.getByRole('dialog').waitFor();
    const animation = await page
      .locator('.side')
      .evaluate((side) => getComputedStyle(side).animationName);
    expect(animation).toBe('none');
    await page.keyboard.press('Escape');
    const ground = () =>
      page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    const light = await ground();
    await page.getByRole('button', { name: 'Switch between light and dark' }).click();
    expect(await ground()).not.toBe(light);
  });

  it('are set in the font that comes with the page', async () => {
    await using desk = await openDesk(browser, stack);
    const { page, problems } = desk;
    await page.getByRole('link', { name: 'Sign in' }).waitFor();
    const faces = await page.evaluate(async () => {
      await document.fonts.ready;
      return [...document.fonts]
        .filter(({ status }) => status === 'loaded')
        .map(({ family }) => family.replaceAll('"', ''));
    });
    expect(new Set(faces)).toEqual(new Set(['Inter Variable']));
    const licence = await fetch(`${stack.url}/assets/Inter-OFL.txt`);
    expect(await licence.text()).toContain('SIL Open Font License');
    expect(problems).toEqual([]);
  });
});
