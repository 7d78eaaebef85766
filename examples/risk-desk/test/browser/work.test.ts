import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startStack, type Stack } from '../../demo/stack.ts';
import {
  allChecked,
  checkList,
  choosePurpose,
  crowd,
  hasBrowser,
  launchBrowser,
  openDesk,
  openSignedIn,
  signIn,
  tiles,
  upload,
} from './browser.ts';

const [OLD_LINE, SWAPPED, NEW_LINE] = ['+447700900004', '+447700900001', '+447700900005'];

async function checkOne(page: Page, number: string): Promise<void> {
  await page.getByLabel('Phone number').fill(number);
  await page.getByRole('button', { name: 'Check', exact: true }).click();
}

/** Answers the browser's question at leaving, and counts it. */
function answerDialogs(page: Page, leaves: () => boolean): { readonly types: string[] } {
  const types: string[] = [];
  page.removeAllListeners('dialog');
  page.on('dialog', (dialog) => {
    types.push(dialog.type());
    void (leaves() ? dialog.accept() : dialog.dismiss());
  });
  return { types };
}

describe.skipIf(!hasBrowser())('the desk in a browser', () => {
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

  describe('tells the truth:', () => {
    it('a line that was activated lately is new, and not unchanged', async () => {
      await using desk = await openSignedIn(browser, stack);
      const { page, problems } = desk;
      await checkList(page, [NEW_LINE, OLD_LINE]);
      await allChecked(page);
      expect(await tiles(page)).toEqual({ 'New line': 1, 'No change': 1 });
      const first = page.locator('.rows__row').first();
      expect(await first.getAttribute('data-tone')).toBe('warning');
      expect(await first.innerText()).toMatch(/New line.*activated 24 h ago/su);
      await first.locator('.rows__cell').first().click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('heading', { name: 'New line: SIM activated 24 h ago' }).waitFor();
      expect(await dialog.innerText()).not.toMatch(/stayed on its SIM|Last SIM change/u);
      // What lies behind it is not called unknown beside an answer.
      expect(await dialog.locator('.timeline__says').allInnerTexts()).toEqual(
        expect.arrayContaining(['SIM activated', 'Not reported']),
      );
      expect(await dialog.getByText('Earlier changes are not reported.').count()).toBe(1);
      expect(problems).toEqual([]);
    });

    it('a check that fails leaves the last verdict, its time, and says why it is not newer', async () => {
      await using desk = await openSignedIn(browser, stack);
      const { page } = desk;
      await checkList(page, [SWAPPED]);
      await allChecked(page);
      await page.locator('.rows__cell').first().click();
      const dialog = page.getByRole('dialog');
      await page.route('**/graphql', (route) => route.abort());
      await dialog.getByRole('button', { name: 'Check again' }).click();
      await dialog.getByText('Could not be refreshed.').waitFor();
      expect(await dialog.getByRole('alert').innerText()).toMatch(
        /The desk could not be reached\. The answer above is from \d\d:\d\d\./u,
      );
      expect(await dialog.getByRole('heading', { level: 2 }).last().innerText()).toBe(
        'SIM changed within 24 h',
      );
      expect(await dialog.locator('.verdict').getAttribute('data-freshness')).toBe('stale');
      await page.keyboard.press('Escape');
      expect(await tiles(page)).toEqual({ 'Changed in 24 h': 1 });
      await page.getByText('not refreshed: No connection').waitFor();
      await page.unroute('**/graphql');
      await page.getByRole('button', { name: 'Retry 1 number' }).click();
      await page.getByText('not refreshed').waitFor({ state: 'detached' });
      // And what was checked before is there, with the reference to quote.
      await page.locator('.rows__cell').first().click();
      await expect
        .poll(() => dialog.locator('.facts').innerText())
        .toMatch(
          /Earlier in this session\s+\d\d:\d\d No answer, \d\d:\d\d SIM changed\s+Reference\s+desk[0-9a-f]{16}/u,
        );
    });

    it('says who failed, and says it no longer when answers come', async () => {
      await using desk = await openSignedIn(browser, stack);
      const { page } = desk;
      let reply: 'none' | 'service' | 'operator' | 'real' = 'none';
      await page.route('**/graphql', async (route) => {
        if (reply === 'none') await route.abort();
        else if (reply === 'service') await route.fulfill({ status: 502, body: '' });
        else if (reply === 'real') await route.continue();
        else
          await route.fulfill({
            json: { errors: [{ message: '', extensions: { code: 'OPERATOR_UNAVAILABLE' } }] },
          });
      });
      await checkList(page, crowd(6));
      const banner = page.getByRole('alert');
      for (const [next, says] of [
        ['service', 'This page had no connection. 6 numbers got no answer'],
        ['operator', 'The service could not be reached. 6 numbers got no answer'],
        ['real', 'The operator could not be reached. 6 numbers got no answer'],
      ] as const) {
        await banner.getByText(says.split('.')[0] ?? '').waitFor();
        expect(await banner.innerText()).toContain(says);
        if (next === 'operator') {
          // What came of checking one row again is said where its button is.
          await page.locator('.rows__cell').first().click();
          const dialog = page.getByRole('dialog');
          await dialog.getByRole('button', { name: 'Check again' }).click();
          await dialog.getByText(/Checked again at \d\d:\d\d\. Still no answer\./u).waitFor();
          await page.keyboard.press('Escape');
        }
        reply = next;
        await page.getByRole('button', { name: 'Retry 6 numbers' }).click();
      }
      await expect.poll(() => tiles(page)).toEqual({ 'No change': 6 });
      expect(await banner.count()).toBe(0);
    });

    it.each([
      [1024, 768],
      [390, 844],
    ])('at %i × %i checking begins in sight', async (width, height) => {
      await using desk = await openSignedIn(browser, stack, { viewport: { width, height } });
      const { page } = desk;
      await choosePurpose(page);
      await upload(
        page,
        [...crowd(60), ...crowd(60), ...Array(60).fill('07700 900001')].join('\n'),
      );
      const check = page.getByRole('button', { name: 'Check 60 numbers' });
      await check.scrollIntoViewIfNeeded();
      await check.click();
      await page.locator('.runbar').waitFor();
      expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('List results');
      // At one moment: both may move while they are measured one after the other.
      const { top, header } = await page.evaluate(() => ({
        top: document.querySelector('.runbar')?.getBoundingClientRect().top ?? -1,
        header: document.querySelector('.topbar')?.getBoundingClientRect().bottom ?? -1,
      }));
      expect(top).toBeGreaterThanOrEqual(header - 1);
      expect(top).toBeLessThan(height);
      await page.evaluate(() => window.scrollTo(0, 400));
      expect((await page.locator('.topbar').boundingBox())?.y).toBeLessThanOrEqual(0);
      expect(await page.locator('.brand').isVisible()).toBe(true);
    });

    it('who waits for the owner hears one sentence about it, once', async () => {
      await using desk = await openSignedIn(browser, stack, { who: 'analyst' });
      const { page } = desk;
      await choosePurpose(page);
      await checkOne(page, '+447700900051');
      await page.getByRole('button', { name: 'Prompt the owner’s phone' }).click();
      await page.getByRole('heading', { name: 'Waiting for the owner' }).waitFor();
      const text = await page.locator('.case').innerText();
      expect(text).toContain('Keep this open. Checking again will not prompt them twice.');
      expect(text).not.toMatch(/No answer|reason/u);
      const sentences = text.split(/(?<=\.)\s+/u).filter((one) => one.endsWith('.'));
      expect(new Set(sentences).size).toBe(sentences.length);
    });

    it('says where a number is, and copies it', async () => {
      await using desk = await openSignedIn(browser, stack, { who: 'analyst' });
      const { page, problems } = desk;
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await choosePurpose(page);
      await checkOne(page, '+12015550196');
      const who = page.locator('.case__customer');
      await expect.poll(() => who.innerText()).toMatch(/^Nils .* · customer \d+ · United States$/u);
      await page.getByRole('button', { name: 'Copy number' }).click();
      await page.getByText('Copied').waitFor();
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('+12015550196');
      expect(problems).toEqual([]);
    });
  });

  describe('loses no work:', () => {
    it('leaving with a list needs a confirmation: by F5, by Back, by closing and by signing out', async () => {
      await using desk = await openSignedIn(browser, stack);
      const { page } = desk;
      let leaves = true;
      const dialogs = answerDialogs(page, () => leaves);
      await page.reload();
      await page.getByRole('heading', { name: 'Check a list' }).waitFor();
      expect(dialogs.types).toEqual([]);
      await checkList(page, [SWAPPED]);
      await allChecked(page);
      leaves = false;
      const isHere = async () => expect(await tiles(page)).toEqual({ 'Changed in 24 h': 1 });
      await page.evaluate(() => location.reload());
      await expect.poll(() => dialogs.types.length).toBe(1);
      await isHere();
      await page.evaluate(() => history.go(-2));
      await expect.poll(() => dialogs.types.length).toBe(2);
      await isHere();
      await page.close({ runBeforeUnload: true });
      await expect.poll(() => dialogs.types.length).toBe(3);
      await isHere();
      expect(new Set(dialogs.types)).toEqual(new Set(['beforeunload']));
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('button', { name: 'Keep the list' }).click();
      await isHere();
      leaves = true;
      await page.reload();
      await page.getByRole('heading', { name: 'Check a list' }).waitFor();
    });

    it('Back after signing in stays in the desk', async () => {
      await using desk = await openSignedIn(browser, stack);
      const { page, problems } = desk;
      for (let n = 0; n < 2; n += 1) {
        await page.goBack();
        await page.getByRole('heading', { name: 'Check a list' }).waitFor();
        expect(page.url()).toBe(`${stack.url}/`);
      }
      expect(problems).toEqual([]);
    });

    it('tabs and cases are in the history, without a number', async () => {
      await using desk = await openSignedIn(browser, stack);
      const { page, problems } = desk;
      await checkList(page, [SWAPPED, OLD_LINE]);
      await allChecked(page);
      const dialog = page.getByRole('dialog');
      const single = page.getByRole('heading', { name: 'Check a number' });
      await page.locator('.rows__cell').first().click();
      await dialog.waitFor();
      expect(JSON.stringify(await page.evaluate(() => history.state as unknown))).toMatch(
        /^\{"place":"list","caseId":\d+\}$/u,
      );
      await page.goBack();
      await dialog.waitFor({ state: 'detached' });
      await page.goForward();
      await dialog.getByText('+44 7700 900001').waitFor();
      // Closing is the same way back.
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Single number' }).click();
      await single.waitFor();
      await page.goBack();
      await single.waitFor({ state: 'hidden' });
      expect(await tiles(page)).toEqual({ 'Changed in 24 h': 1, 'No change': 1 });
      expect(page.url()).toBe(`${stack.url}/`);
      expect(problems).toEqual([]);
    });

    it('cancelling leaves what was under way unchecked, and one button goes on', async () => {
      await using desk = await openSignedIn(browser, stack);
      const { page } = desk;
      const held: (() => void)[] = [];
      let isHeld = true;
      await page.route('**/graphql', async (route) => {
        const holds = isHeld && (route.request().postData()?.includes('+12015550') ?? false);
        if (holds) await new Promise<void>((resolve) => held.push(resolve));
        await route.continue().catch(() => undefined);
      });
      await checkList(page, crowd(200));
      await expect.poll(() => held.length).toBe(4);
      await page.getByRole('button', { name: 'Cancel' }).click();
      isHeld = false;
      for (const goOn of held) goOn();
      const words = page.locator('.runbar__words');
      await expect
        .poll(() => words.innerText())
        .toMatch(/^Cancelled\.\s+100 numbers not checked$/u);
      expect(await tiles(page)).toMatchObject({ 'Not checked': 100 });
      const buttons = page.locator('.runbar__actions').getByRole('button');
      expect(await buttons.allInnerTexts()).toEqual(['Check the remaining 100']);
      await buttons.click();
      await allChecked(page);
      expect(await tiles(page)).not.toHaveProperty('Not checked');
      expect(await words.innerText()).toContain('200 numbers checked');
    });

    it('nothing is an error in the console before a person signs in, and the network falls silent', async () => {
      await using desk = await openDesk(browser, stack);
      const { page, problems } = desk;
      // What the page still loads would be cut off by the reload.
      await page.waitForLoadState('networkidle');
      const failed: string[] = [];
      page.on('requestfailed', (request) => failed.push(request.url()));
      await page.reload({ waitUntil: 'networkidle' });
      await signIn(page, stack, 'lead');
      await page.waitForLoadState('networkidle');
      expect([problems, failed]).toEqual([[], []]);
    });
  });

  describe('takes lists as people have them:', () => {
    it('in Windows-1252, national, with the country chosen once after a look at what each becomes', async () => {
      await using desk = await openSignedIn(browser, stack);
      const { page, problems } = desk;
      const text =
        'Name;Home;Mobil\nZoë;020 7946 0001;07700 900001\nJosé;020 7946 0002;447700900004\n' +
        'Ada;;="+44 7700 900005"\nBo;;\u00ab07700\u00bb\n';
      await upload(page, Buffer.from(text, 'latin1'));
      await page
        .getByRole('button', { name: /Column with the numbers/u })
        .getByText('Mobil')
        .waitFor();
      // Nothing is guessed.
      await page.getByRole('button', { name: 'Check 1 number' }).waitFor();
      const country = page.getByRole('combobox', { name: 'Country of 2 numbers without +' });
      expect(await country.inputValue()).toBe('');
      await country.fill('united k');
      await page.getByRole('option', { name: 'United Kingdom +44' }).click();
      await page.getByRole('button', { name: 'Check 3 numbers' }).waitFor();
      for (const finding of await page.locator('.finding summary').all()) await finding.click();
      expect(await page.locator('.finding').first().locator('li').allInnerTexts()).toEqual([
        'Line 2\n07700 900001\n+44 7700 900001',
        'Line 3\n447700900004\n+44 7700 900004',
      ]);
      expect(await page.locator('.finding').nth(1).innerText()).toContain('«07700»');
      await choosePurpose(page);
      await page.getByRole('button', { name: 'Check 3 numbers' }).click();
      await allChecked(page);
      expect(await tiles(page)).toEqual({ 'Changed in 24 h': 1, 'New line': 1, 'No change': 1 });
      expect(problems).toEqual([]);
    });

    it('of 20,000 rows, in two parts', async () => {
      await using desk = await openSignedIn(browser, stack);
      const { page, problems } = desk;
      // The first part is of numbers that need consent: it costs the operator nothing.
      const first = Array.from({ length: 10_000 }, (_, n) => `+4477009000${String(50_000 + n)}`);
      // Replies are made in the page: twenty thousand real ones are another test's business.
      await page.evaluate(() => {
        window.fetch = (_url, init) => {
          const { variables } = JSON.parse(init?.body as string) as {
            variables: { e164s: string[] };
          };
          const customersByPhone = variables.e164s.map((e164) => ({
            customer: null,
            phoneNumber: { e164, simSwapConsent: { state: 'NOT_ASKED', retryAfterSeconds: null } },
          }));
          return Promise.resolve(Response.json({ data: { customersByPhone } }));
        };
      });
      await choosePurpose(page);
      await upload(page, [...first, ...crowd(10_000)].join('\n'));
      await page.getByText('Checked in 2 parts of up to 10,000: you start each.').waitFor();
      await page.getByRole('button', { name: 'Check the first 10,000' }).click();
      await page.getByText('All checked', { exact: true }).waitFor({ timeout: 80_000 });
      await expect
        .poll(() => tiles(page))
        .toEqual({ 'Needs consent': 10_000, 'Not checked': 10_000 });
      expect(await page.locator('.runbar__words').innerText()).toContain(
        '10,000 of 20,000 numbers checked',
      );
      await page.getByRole('button', { name: 'Check the remaining 10,000' }).click();
      await expect
        .poll(() => tiles(page), { timeout: 80_000 })
        .toEqual({ 'Needs consent': 20_000 });
      expect(problems).toEqual([]);
    });
  });

  it('finds the three riskiest customers of the sample for a new user', async () => {
    await using opened = await openDesk(browser, stack);
    const { page } = opened;
    await page.getByRole('link', { name: 'Sign in' }).waitFor();
    const startedMs = performance.now();
    let clicks = 0;
    const click = async (role: 'link' | 'button' | 'option', name: string | RegExp) => {
      clicks += 1;
      await page.getByRole(role, { name }).click();
    };
    await click('link', 'Sign in');
    // The name field has the focus; Enter sends.
    await page.locator('input[name=login]:focus').waitFor();
    await page.keyboard.type(stack.people.lead.login);
    await page.keyboard.press('Tab');
    await page.keyboard.type(stack.people.lead.password);
    await page.keyboard.press('Enter');
    await click('button', 'Try the sample');
    await click('button', /^Check 154/u);
    await click('option', 'Preventing fraud');
    await allChecked(page);
    const riskiest = await page
      .locator('.rows__row')
      .evaluateAll((rows) =>
        rows
          .slice(0, 3)
          .map((row) => [
            row.querySelector('[data-column="customer"]')?.textContent,
            row.querySelector('[data-column="risk"] b')?.textContent,
          ]),
      );
    const seconds = (performance.now() - startedMs) / 1000;
    expect(clicks).toBe(4);
    expect(riskiest.map(([, risk]) => risk)).toEqual(Array(3).fill('SIM changed'));
    expect(riskiest.every(([name]) => /^(?:Bo Abara|Mina )/u.test(name ?? ''))).toBe(true);
    process.stdout.write(
      `the three riskiest of sample.csv: ${riskiest.map(([name]) => name).join(', ')}; ${clicks} clicks, ${seconds.toFixed(1)} s\n`,
    );
  });
});
