import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import axeCore from 'axe-core';
import Papa from 'papaparse';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startStack, type Stack } from '../../demo/stack.ts';
import {
  allAsked,
  askAbout,
  choosePurpose,
  crowd,
  hasBrowser,
  launchBrowser,
  openDesk,
  openSignedIn,
  operatorCounts,
  signIn,
  upload,
} from './browser.ts';
import { saveScreenshot } from './screenshots.ts';

const SAMPLE = fileURLToPath(new URL('../../sample.csv', import.meta.url));

/** Test numbers of the simulator, and what the table says of each. */
const CASES = [
  ['+447700900001', 'SIM changed within 24 h'],
  ['+447700900002', 'SIM changed within 72 h'],
  ['+447700900003', 'No change in 30 days'],
  ['+447700900004', 'No change in 30 days'],
  ['+447700900005', 'No change in 30 days'],
  ['+447700900006', 'SIM changed within 72 h'],
  ['+447700900007', 'No change in 30 days'],
  ['+447700900010', 'Unknown Not served'],
  ['+447700900013', 'Unknown Operator unavailable'],
  ['+447700900020', 'Unknown Refused by operator'],
  ['+447700900022', 'No change in 30 days'],
  ['+447700900030', 'Unknown Reply not trusted'],
  ['+447700900052', 'Needs consent open to ask: rings a phone'],
] as const;

const rowsOf = (page: Page): Locator => page.getByRole('grid').locator('.rows__row');

async function verdicts(page: Page): Promise<string[]> {
  const texts = await page.locator('.rows__row .pill__words').allInnerTexts();
  return texts.map((text) => text.replaceAll('\n', ' '));
}

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

describe.skipIf(!hasBrowser())('a list in a browser', () => {
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

  it('is pasted: duplicates and bad numbers are shown before anything is asked', async () => {
    await using desk = await openSignedIn(browser, stack);
    const { page, problems } = desk;
    const before = await operatorCounts(stack);
    await page
      .getByRole('textbox', { name: 'Or paste numbers' })
      .fill('+447700900004\n+44 7700 900-004\n07700 900005\n004477009\n+447700900001');
    await page.getByRole('button', { name: 'Read them' }).click();
    await page.getByRole('heading', { name: 'Before anything is asked' }).waitFor();
    expect(await page.locator('.tile').allInnerTexts()).toEqual([
      'Numbers to ask about\n2',
      'Duplicates, asked once\n1',
      'Bad numbers, not asked\n2',
      'Lookups at most\n8',
    ]);
    await page.getByText('1 duplicate', { exact: true }).click();
    expect(await page.locator('.findings li').allInnerTexts()).toEqual([
      'Line 3\nNo + and country code. Add them: a national number could be a stranger’s abroad.',
      'Line 4\nBegins with 00. Write + in its place.',
      'Line 2\nThe same number as in line 1.',
    ]);
    // Without a purpose nothing is asked: the choice of one is focused.
    await page.getByRole('button', { name: 'Ask about 2 numbers' }).click();
    expect(await page.getByText('Choose a purpose first').innerText()).toContain('on record');
    expect(await page.evaluate(() => document.activeElement?.className)).toContain('select');
    expect(await operatorCounts(stack)).toEqual(before);
    expect(problems).toEqual([]);
  });

  it('is read as it is pasted where it is long, and as it is dropped', async () => {
    await using desk = await openSignedIn(browser, stack);
    const { page, problems } = desk;
    const text = crowd(10_000).join('\n');
    await page.getByRole('textbox', { name: 'Or paste numbers' }).evaluate((field, pasted) => {
      const clipboardData = new DataTransfer();
      clipboardData.setData('text/plain', pasted);
      field.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true }));
    }, text);
    await page.getByRole('button', { name: 'Ask about 10,000 numbers' }).waitFor();
    await page.getByRole('button', { name: 'Back' }).click();
    const zone = await page.locator('.dropzone').boundingBox();
    const debug = await page.context().newCDPSession(page);
    for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
      await debug.send('Input.dispatchDragEvent', {
        type,
        x: (zone?.x ?? 0) + 20,
        y: (zone?.y ?? 0) + 20,
        data: { items: [], files: [SAMPLE], dragOperationsMask: 1 },
      });
    }
    await page.getByRole('button', { name: 'Ask about 154 numbers' }).waitFor();
    expect(problems).toEqual([]);
  });

  it.each([
    ['a spreadsheet file', 'PK\u0003\u0004', 'Save it as CSV'],
    ['an empty file', '\n \n', 'There is nothing in it.'],
    ['one of more than 5 MB', '+447700900001\n'.repeat(400_000), 'larger than 5 MB'],
  ])('cannot be %s', async (_, text, says) => {
    await using desk = await openSignedIn(browser, stack);
    await upload(desk.page, text);
    expect(await desk.page.getByRole('alert').innerText()).toContain(says);
  });

  it('is uploaded as CSV: the column of the numbers is found, and another can be chosen', async () => {
    await using desk = await openSignedIn(browser, stack);
    const { page } = desk;
    await upload(page, await readFile(SAMPLE, 'utf8'));
    const column = page.getByRole('button', { name: /Column of the numbers/u });
    expect(await column.innerText()).toContain('mobile');
    await column.click();
    await page.getByRole('option', { name: 'account' }).click();
    await page.getByRole('button', { name: 'Ask about 0 numbers' }).waitFor();
    expect(await page.getByRole('button', { name: 'Ask about 0 numbers' }).isDisabled()).toBe(true);
  });

  it('of more than 10,000 numbers is too long', async () => {
    await using desk = await openSignedIn(browser, stack);
    await upload(desk.page, [...crowd(10_000), '+447700900004'].join('\n'));
    expect(await desk.page.getByRole('alert').innerText()).toContain('10,001 numbers are too many');
    expect(await desk.page.getByRole('button', { name: /^Ask about/u }).isDisabled()).toBe(true);
  });

  it('is answered: what is unknown says why, and is never called safe; sorted, filtered, searched', async () => {
    await using desk = await openSignedIn(browser, stack);
    const { page, problems } = desk;
    const before = await operatorCounts(stack);
    await askAbout(
      page,
      CASES.map(([number]) => number),
    );
    await allAsked(page);
    await expect.poll(() => verdicts(page)).toEqual(CASES.map(([, verdict]) => verdict));
    // No phone rang by a list.
    expect((await operatorCounts(stack)).prompts).toBe(before.prompts);
    expect(await rowsOf(page).first().innerText()).toContain('+44 ••• ••• 001');

    // Each heading stands above its cells.
    const lefts = (selector: string) =>
      page
        .locator(selector)
        .evaluateAll((boxes) => boxes.map((box) => Math.round(box.getBoundingClientRect().left)));
    expect(await lefts('.rows__column')).toEqual(
      (await lefts('.rows__row .rows__cell')).slice(0, 10),
    );

    await page.getByRole('button', { name: 'Verdict', exact: true }).click();
    const order = ['SIM changed', 'Unknown', 'Needs consent', 'No change'];
    const ranks = async () =>
      (await verdicts(page)).map((text) => order.findIndex((one) => text.startsWith(one)));
    await expect.poll(async () => (await ranks())[0]).toBe(0);
    const sorted = await ranks();
    expect(sorted).toEqual(sorted.toSorted((a, b) => a - b));
    expect(
      await page.getByRole('columnheader', { name: 'Verdict' }).getAttribute('aria-sort'),
    ).toBe('ascending');

    await page.getByRole('radio', { name: /Unknown/u }).click();
    await expect.poll(async () => (await verdicts(page)).length).toBe(4);
    expect((await verdicts(page)).every((text) => text.startsWith('Unknown'))).toBe(true);
    await page.getByRole('radio', { name: /All/u }).click();
    await page.getByRole('searchbox').fill('900 002');
    await expect.poll(() => verdicts(page)).toEqual(['SIM changed within 72 h']);
    await page.getByRole('searchbox').fill('no such customer');
    await page.getByText('No number is like that.').waitFor();

    // The charts, for those who do not see them.
    const outcomes = await page.locator('.outcomes-chart svg').getAttribute('aria-label');
    expect(outcomes).toBe(
      'Outcomes of 13 numbers. SIM changed: 3. Unknown: 4. Needs consent: 1. Not asked yet: 0. No change: 5.',
    );
    const recency = await page.locator('.chart table tbody tr').allTextContents();
    // Two lie on the edge between bars.
    expect(recency.slice(4)).toEqual(['90 days1', '1 year0', 'longer1', 'no date2']);
    const lately = recency.slice(0, 4).map((bar) => Number(bar.at(-1)));
    expect(lately.reduce((sum, rows) => sum + rows)).toBe(3);
    expect(problems).toEqual([]);
  });

  it('is worked by keyboard, and a case leaves no number behind', async () => {
    await using desk = await openSignedIn(browser, stack);
    const { page, problems } = desk;
    await askAbout(
      page,
      CASES.map(([number]) => number),
    );
    await allAsked(page);
    const hasNumber = () =>
      page.evaluate(() => {
        const kept = [
          JSON.stringify(Object.entries(localStorage)),
          JSON.stringify(Object.entries(sessionStorage)),
          document.cookie,
        ];
        return [document.documentElement.outerHTML, location.href, document.title, ...kept]
          .map((text) => text.replaceAll(/[\s-]/gu, ''))
          .some((text) => /77009000\d\d/u.test(text));
      });
    expect(await hasNumber()).toBe(false);
    // From the top of the page: each control once, groups and the table as one stop each.
    await page.evaluate(() => {
      document.body.tabIndex = -1;
      document.body.focus();
    });
    const order: string[] = [];
    for (let stop = 0; stop < 16; stop += 1) {
      await page.keyboard.press('Tab');
      order.push(
        await page.evaluate(() => {
          const { activeElement: element } = document;
          return element?.getAttribute('aria-label') ?? element?.textContent ?? '';
        }),
      );
    }
    // What failed for a reason that may pass can be retried when the operator said so.
    expect(order.filter((name) => !name.includes('Retry')).slice(0, 15)).toEqual([
      'Preventing fraud',
      'Switch between light and dark',
      'Sign out',
      'A list',
      '13All',
      '',
      ' Export',
      ' Print',
      'New list',
      'Line',
      'Number',
      'Customer',
      'Verdict',
      'Last change',
      'Asked',
    ]);
    await page.getByRole('button', { name: 'Asked', exact: true }).focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('End');
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowDown');
    const focused = () =>
      page.evaluate(() => document.activeElement?.getAttribute('aria-rowindex'));
    await expect.poll(focused).toBe('3');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('+44 7700 900 002').waitFor();
    expect(await dialog.innerText()).toContain('SIM changed within 72 h');
    expect(await dialog.getByRole('img').getAttribute('aria-label')).toMatch(
      /^Timeline\. Last 24 h: no change\. 24 h to 72 h ago: SIM changed\. .*The operator’s date: 3 days ago\.$/u,
    );
    expect(await page.title()).toBe('Risk desk');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(focused).toBe('3');
    expect(await hasNumber()).toBe(false);
    // Closed and opened again, as by the back button, the page knows nothing of it.
    await page.goto('about:blank');
    await page.goBack();
    await page.getByRole('heading', { name: 'Ask about a list' }).waitFor();
    expect(await page.locator('.rows__row').count()).toBe(0);
    expect(problems).toEqual([]);
  });

  it('grows stale before the eyes', async () => {
    await using desk = await openSignedIn(browser, stack, {
      before: async (page) => page.clock.install(),
    });
    const { page } = desk;
    await askAbout(page, ['+447700900004']);
    await page.getByText('just now').first().waitFor();
    await page.clock.fastForward('20:00');
    await page.getByText('20 min ago').waitFor();
    expect(await page.locator('.pill').getAttribute('data-freshness')).toBe('ageing');
    await page.clock.fastForward('45:00');
    await page.getByText('stale · 1 h ago').waitFor();
    await rowsOf(page).first().click();
    await page.getByText('This is stale: ask again').waitFor();
  });

  it('is exported: numbers as text, no formula; printed in whole', async () => {
    await using desk = await openSignedIn(browser, stack);
    const { page } = desk;
    await askAbout(page, [...CASES.map(([number]) => number), ...crowd(60)]);
    await allAsked(page);
    const download = async (choice: 'Masked' | 'In full'): Promise<string> => {
      await page.getByRole('button', { name: 'Export' }).click();
      await page.getByRole('radio', { name: choice }).check({ force: true });
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Download' }).click(),
      ]);
      expect(file.suggestedFilename()).toMatch(/^sim-changes-\d{4}-\d\d-\d\d\.csv$/u);
      return readFile(await file.path(), 'utf8');
    };
    expect(await download('Masked')).not.toContain('7700900');
    const { data } = Papa.parse<string[]>((await download('In full')).trimEnd());
    expect(data.length).toBe(1 + CASES.length + 60);
    expect(data[1]?.slice(0, 5)).toEqual([
      '1',
      "'+447700900001",
      'Bo Abara',
      '1001',
      'SIM changed',
    ]);
    expect(data[8]?.slice(4, 8)).toEqual([
      'Unknown',
      'Not served',
      'unknown: Not served',
      'unknown: Not served',
    ]);

    await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
    await page.emulateMedia({ media: 'print' });
    expect(await page.locator('.printed tbody tr').count()).toBe(CASES.length + 60);
    expect(await page.locator('.printed').isVisible()).toBe(true);
    expect(await page.locator('.topbar').isVisible()).toBe(false);
    await page.emulateMedia({ media: 'screen' });
    await page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
    expect(await page.locator('.printed').count()).toBe(0);
  });

  it('goes on where a page fails, and asks again only what may pass', async () => {
    await using desk = await openSignedIn(browser, stack);
    const { page } = desk;
    const numbers = [...crowd(70), '+447700900010'];
    let isBroken = true;
    await page.route('**/graphql', (route) =>
      isBroken && route.request().postData()?.includes('+12005550145') === true
        ? route.abort()
        : route.continue(),
    );
    await askAbout(page, numbers);
    await allAsked(page);
    const counts = () => page.locator('.filter__button').allInnerTexts();
    await expect
      .poll(counts)
      .toEqual([
        '71\nAll',
        '0\nSIM changed',
        '21\nUnknown',
        '0\nNeeds consent',
        '0\nNot asked yet',
        '50\nNo change',
      ]);
    // One banner for all of them.
    expect(await page.getByRole('alert').allInnerTexts()).toEqual([
      expect.stringContaining('20 numbers got no answer and are unknown, not safe.'),
    ]);
    isBroken = false;
    const before = await operatorCounts(stack);
    await page.getByRole('button', { name: 'Retry 20 numbers' }).click();
    await expect
      .poll(counts)
      .toEqual([
        '71\nAll',
        '0\nSIM changed',
        '1\nUnknown',
        '0\nNeeds consent',
        '0\nNot asked yet',
        '70\nNo change',
      ]);
    expect((await operatorCounts(stack)).lookups - before.lookups).toBe(20);
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  it('waits while the session has ended, and goes on after a sign-in in another tab', async () => {
    await using desk = await openSignedIn(browser, stack);
    const { page } = desk;
    await askAbout(page, ['+447700900004']);
    await allAsked(page);
    await page.context().clearCookies();
    await rowsOf(page).first().click();
    await page.getByRole('button', { name: 'Ask again' }).click();
    await page.getByRole('dialog').getByText('Unknown: signed out').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('Your session has ended.').waitFor();
    const other = await page.context().newPage();
    await other.goto(stack.url);
    await signIn(other, stack, 'lead');
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByText('Your session has ended.').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Retry 1 number' }).click();
    await expect.poll(() => verdicts(page)).toEqual(['No change in 30 days']);
    // The new session is the one that ends.
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('link', { name: 'Sign in' }).waitFor();
  });

  it('is not gone on with under the name of another person, who sees nothing of it', async () => {
    await using desk = await openSignedIn(browser, stack);
    const { page } = desk;
    await askAbout(page, ['+447700900004']);
    await allAsked(page);
    await page.context().clearCookies();
    await rowsOf(page).first().click();
    await page.getByRole('button', { name: 'Ask again' }).click();
    await page.getByRole('dialog').getByText('Unknown: signed out').waitFor();
    await page.keyboard.press('Escape');
    const other = await page.context().newPage();
    await other.goto(stack.url);
    await signIn(other, stack, 'analyst');
    const before = await operatorCounts(stack);
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByText('Ana Lyst').waitFor();
    expect(await page.locator('.rows__row').count()).toBe(0);
    expect(await page.locator('body').innerText()).not.toMatch(/Lea Der|Grace/u);
    expect(await operatorCounts(stack)).toEqual(before);
  });

  it('of 10,000 is asked with pauses, scrolls smoothly, and ends at once when it is cancelled', async () => {
    await using desk = await openSignedIn(browser, stack);
    const { page, problems } = desk;
    // Of what moves without being asked to; a click's own doing does not count.
    await page.evaluate(() => {
      const moved = globalThis as unknown as { movedScore: number };
      moved.movedScore = 0;
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) {
          const shift = entry as PerformanceEntry & { value: number; hadRecentInput: boolean };
          if (!shift.hadRecentInput) moved.movedScore += shift.value;
        }
      }).observe({ type: 'layout-shift' });
    });
    const startedMs = performance.now();
    await askAbout(page, crowd(10_000));
    await page.locator('.pill[data-outcome="clear"]').first().waitFor();
    const firstRowsMs = performance.now() - startedMs;
    // No more rows are drawn than come in sight.
    expect(await page.locator('.rows__row').count()).toBeLessThan(60);
    expect(await page.getByRole('grid').getAttribute('aria-rowcount')).toBe('10001');
    await page.getByText(/about .* left/u).waitFor();
    await saveScreenshot(page, 'asking');
    const movedScore = await page.evaluate(
      () => (globalThis as unknown as { movedScore: number }).movedScore,
    );
    // By the measure that search engines use, 0.1 is good.
    expect(movedScore).toBeLessThan(0.02);

    const settled = async (): Promise<number> => {
      let last = -1;
      await expect
        .poll(
          async () => {
            const { tokens } = await operatorCounts(stack);
            const isStill = tokens === last;
            last = tokens;
            return isStill;
          },
          { interval: 400 },
        )
        .toBe(true);
      return last;
    };
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('Paused', { exact: true }).first().waitFor();
    const paused = await settled();
    await page.getByRole('button', { name: 'Go on' }).click();
    await expect.poll(async () => (await operatorCounts(stack)).tokens).toBeGreaterThan(paused);

    const frames = await scrollFrames(page);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('Cancelled: nothing further is asked').first().waitFor();
    const cancelled = await settled();
    const { tokens } = await operatorCounts(stack);
    expect(tokens).toBe(cancelled);
    expect(tokens).toBeLessThan(20_000);
    const framesAfter = await scrollFrames(page);
    // Measured, and told rather than judged: the machine that runs the tests has other things to do.
    process.stdout.write(
      `10,000 numbers: layout shift ${movedScore.toFixed(4)}; first rows after ${firstRowsMs.toFixed(0)} ms; frames in ms while asking ${frames}; ` +
        `when cancelled ${framesAfter}\n`,
    );
    await page.getByRole('button', { name: /^Ask about the other/u }).waitFor();
    expect(problems).toEqual([]);
  });

  it.each(['light', 'dark'] as const)(
    'has nothing that axe-core finds, in %s',
    async (colorScheme) => {
      await using desk = await openDesk(browser, stack, { colorScheme });
      const { page, problems } = desk;
      await page.getByRole('link', { name: 'Sign in' }).waitFor();
      expect(await axeFindings(page)).toEqual([]);
      await signIn(page, stack, 'lead');
      expect(await axeFindings(page)).toEqual([]);
      await choosePurpose(page);
      await upload(page, await readFile(SAMPLE, 'utf8'));
      await page.getByRole('button', { name: /^Ask about/u }).waitFor();
      if (colorScheme === 'light') await saveScreenshot(page, 'before');
      expect(await axeFindings(page)).toEqual([]);
      await page.getByRole('button', { name: /^Ask about/u }).click();
      await allAsked(page);
      await page.getByRole('button', { name: 'Verdict', exact: true }).click();
      await page.waitForFunction(
        () =>
          document.querySelector('.rows__row .pill')?.getAttribute('data-outcome') === 'swapped',
      );
      await saveScreenshot(page, `list-${colorScheme}`);
      expect(await axeFindings(page)).toEqual([]);
      await rowsOf(page).nth(4).click();
      await page.getByRole('dialog').waitFor();
      if (colorScheme === 'light') await saveScreenshot(page, 'case');
      expect(await axeFindings(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Export' }).click();
      await page.getByRole('dialog').waitFor();
      expect(await axeFindings(page)).toEqual([]);
      expect(problems).toEqual([]);
    },
  );

  it('fits a phone, stands still where less motion is wanted, and changes its light by a switch', async () => {
    await using desk = await openSignedIn(browser, stack, {
      viewport: { width: 375, height: 812 },
    });
    const { page } = desk;
    const widest = () => page.evaluate(() => document.documentElement.scrollWidth);
    expect(await widest()).toBe(375);
    await askAbout(
      page,
      CASES.map(([number]) => number),
    );
    await allAsked(page);
    expect(await widest()).toBe(375);
    await saveScreenshot(page, 'phone-list');
    expect(await axeFindings(page)).toEqual([]);
    await rowsOf(page).nth(1).click();
    await page.getByRole('dialog').waitFor();
    expect(await widest()).toBe(375);
    await saveScreenshot(page, 'phone-case');
    expect(await axeFindings(page)).toEqual([]);
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
});

/** How long the frames take while 200 screens of rows pass: the median, and 95 and 99 of 100. */
async function scrollFrames(page: Page): Promise<string> {
  return page.locator('.rows').evaluate(async (rows) => {
    const framesMs: number[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    let lastMs = performance.now();
    const step = (): void => {
      const nowMs = performance.now();
      framesMs.push(nowMs - lastMs);
      lastMs = nowMs;
      rows.scrollTop = framesMs.length * 200;
      if (framesMs.length < 200) requestAnimationFrame(step);
      else resolve();
    };
    requestAnimationFrame(step);
    await promise;
    const sorted = framesMs.toSorted((a, b) => a - b);
    return [100, 190, 198].map((index) => (sorted[index] ?? 0).toFixed(1)).join(', ');
  });
}
