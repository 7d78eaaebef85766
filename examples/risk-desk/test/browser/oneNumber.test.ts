import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startStack, type Stack } from '../../demo/stack.ts';
import {
  allChecked,
  checkList,
  choosePurpose,
  hasBrowser,
  launchBrowser,
  openSignedIn,
  operatorCounts,
  sortByLine,
} from './browser.ts';

async function check(page: Page, number: string): Promise<void> {
  await page.getByLabel('Phone number').fill(number);
  await page.getByRole('button', { name: 'Check', exact: true }).click();
}

describe.skipIf(!hasBrowser())('one number in a browser', () => {
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

  it('is all that an analyst is offered: checked, judged, checked again', async () => {
    await using desk = await openSignedIn(browser, stack, { who: 'analyst' });
    const { page, problems } = desk;
    expect(await page.getByRole('button', { name: 'List' }).count()).toBe(0);
    await check(page, '07700 900004');
    await page.getByText('Missing country code. Write it as +44 7700 900001.').waitFor();
    // A person says of which country it is; nothing is guessed.
    await page.getByRole('combobox', { name: 'Country of the number without +' }).fill('united k');
    await page.getByRole('option', { name: 'United Kingdom +44' }).click();
    await page.getByRole('button', { name: 'Check', exact: true }).click();
    const before = await operatorCounts(stack);
    await page.getByRole('option', { name: 'Preventing fraud' }).click();
    await page.getByRole('heading', { name: 'No change in 30 days' }).waitFor();
    await page.getByText('Grace, who has had hers for ten years').waitFor();
    // A line that never swapped: one lookup for the date and four windows.
    expect((await operatorCounts(stack)).lookups - before.lookups).toBe(1);
    expect(await page.getByLabel('Phone number').inputValue()).toBe('07700 900004');
    await page.getByRole('button', { name: 'Check again' }).click();
    await expect.poll(async () => (await operatorCounts(stack)).lookups - before.lookups).toBe(2);

    // Checks of this session stay: a click shows one again, and looks nothing up.
    await check(page, '+447700900001');
    await page.getByRole('heading', { name: 'SIM changed within 24 h' }).waitFor();
    const { lookups } = await operatorCounts(stack);
    const checked = page.getByRole('region', { name: 'Checked in this session' });
    expect(await checked.getByRole('button').count()).toBe(2);
    await checked.getByRole('button', { name: /\+44 7700 900004/u }).click();
    await page.getByRole('heading', { name: 'No change in 30 days' }).waitFor();
    expect((await operatorCounts(stack)).lookups).toBe(lookups);
    // A number that is typed again is checked again, in its place.
    await check(page, '+447700900001');
    await expect.poll(async () => (await operatorCounts(stack)).lookups).toBeGreaterThan(lookups);
    await page.getByRole('heading', { name: 'SIM changed within 24 h' }).waitFor();
    expect(await checked.getByRole('button').count()).toBe(2);
    expect(problems).toEqual([]);
  });

  it.each([
    ['+447700900010', 'Unknown: not served', 'Verify the customer in another way'],
    ['+447700900013', 'Unknown: operator unavailable', 'Check again later.'],
  ])('%s is unknown, with the reason and what to do', async (number, title, advice) => {
    await using desk = await openSignedIn(browser, stack, { who: 'analyst' });
    await choosePurpose(desk.page);
    await check(desk.page, number);
    await desk.page.getByRole('heading', { name: title }).waitFor();
    expect(await desk.page.locator('.case').innerText()).toContain(advice);
    expect(await desk.page.locator('.verdict').getAttribute('data-outcome')).toBe('unknown');
  });

  it('that needs consent rings no phone before a click that says so; the answer comes without a reload', async () => {
    await using desk = await openSignedIn(browser, stack, { who: 'analyst' });
    const { page, problems } = desk;
    await choosePurpose(page);
    const before = await operatorCounts(stack);
    await check(page, '+447700900051');
    await page.getByRole('heading', { name: 'Needs the owner’s consent' }).waitFor();
    expect((await operatorCounts(stack)).prompts).toBe(before.prompts);
    await page.getByRole('button', { name: 'Prompt the owner’s phone' }).click();
    await page.getByRole('heading', { name: 'Waiting for the owner' }).waitFor();
    expect(await page.locator('.case__actions').count()).toBe(0);
    await page.getByRole('heading', { name: 'No change in 30 days' }).waitFor();
    expect((await operatorCounts(stack)).prompts - before.prompts).toBe(1);
    // One check, whose no answers the smaller windows.
    expect(await page.locator('.timeline__says').allInnerTexts()).toEqual(
      Array(4).fill('No change'),
    );
    expect(problems).toEqual([]);
  });

  it('whose owner declines is unknown', async () => {
    await using desk = await openSignedIn(browser, stack, { who: 'analyst' });
    const { page } = desk;
    await choosePurpose(page);
    await check(page, '+447700900052');
    await page.getByRole('button', { name: 'Prompt the owner’s phone' }).click();
    await page.getByRole('heading', { name: 'Unknown: owner declined' }).waitFor();
    expect(await page.locator('.verdict').getAttribute('data-outcome')).toBe('unknown');
  });

  it('in a list waits for its click as well', async () => {
    await using desk = await openSignedIn(browser, stack);
    const { page } = desk;
    const before = await operatorCounts(stack);
    await checkList(page, ['+447700900059', '+447700900056', '+447700900004']);
    await allChecked(page);
    const outcomes = () =>
      page
        .locator('.rows__row')
        .evaluateAll((rows) => rows.map((row) => row.getAttribute('data-outcome')));
    await sortByLine(page);
    expect(await outcomes()).toEqual(['consent', 'consent', 'clear']);
    expect((await operatorCounts(stack)).prompts).toBe(before.prompts);
    await page.locator('.rows__cell').first().click();
    await page.getByRole('button', { name: 'Prompt the owner’s phone' }).click();
    await page.getByRole('dialog').getByRole('heading', { name: 'No change in 30 days' }).waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(outcomes).toEqual(['clear', 'consent', 'clear']);
    expect((await operatorCounts(stack)).prompts - before.prompts).toBe(1);
  });
});
