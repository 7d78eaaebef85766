import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { LAUNCH_OPTIONS } from '../../../browser.ts';
import type { Stack } from '../../demo/stack.ts';

export { hasBrowser } from '../../../browser.ts';

export const launchBrowser = (): Promise<Browser> => chromium.launch(LAUNCH_OPTIONS);

/** A page of the desk, and all that went wrong in it: a breach of the content security policy, say. */
export interface DeskPage extends AsyncDisposable {
  readonly page: Page;
  readonly problems: readonly string[];
}

export interface DeskPageOptions extends BrowserContextOptions {
  readonly who?: 'lead' | 'analyst';
  readonly before?: (page: Page) => Promise<void>;
}

export async function openDesk(
  browser: Browser,
  stack: Stack,
  { before, ...options }: DeskPageOptions = {},
): Promise<DeskPage> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    locale: 'en-GB',
    reducedMotion: 'reduce',
    ...options,
  });
  context.setDefaultTimeout(20_000);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  // Leaving with a list needs a confirmation; a test leaves unless it says otherwise.
  page.on('dialog', (dialog) => void dialog.accept().catch(() => undefined));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text());
  });
  await before?.(page);
  await page.goto(stack.url);
  return { page, problems, [Symbol.asyncDispose]: () => context.close() };
}

export async function openSignedIn(
  browser: Browser,
  stack: Stack,
  options: DeskPageOptions = {},
): Promise<DeskPage> {
  const desk = await openDesk(browser, stack, options);
  await signIn(desk.page, stack, options.who ?? 'lead');
  return desk;
}

export async function signIn(page: Page, stack: Stack, who: 'lead' | 'analyst'): Promise<void> {
  await page.getByRole('link', { name: 'Sign in' }).click();
  await typePassword(page, stack, who);
}

export async function typePassword(
  page: Page,
  stack: Stack,
  who: 'lead' | 'analyst',
): Promise<void> {
  const { login, password } = stack.people[who];
  await page.fill('input[name=login]', login);
  await page.fill('input[name=password]', password);
  await page.click('[type=submit]');
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

export async function choosePurpose(page: Page): Promise<void> {
  await page
    .getByRole('button', { name: /purpose/iu })
    .first()
    .click();
  await page.getByRole('option', { name: 'Preventing fraud' }).click();
}

export async function upload(page: Page, text: string | Buffer, name = 'list.csv'): Promise<void> {
  const buffer = Buffer.from(text);
  await page.setInputFiles('input[type=file]', { name, mimeType: 'text/csv', buffer });
}

export async function checkList(page: Page, numbers: readonly string[]): Promise<void> {
  await choosePurpose(page);
  await upload(page, numbers.join('\n'));
  await page.getByRole('button', { name: /^Check (?:the first )?[0-9]/u }).click();
}

export async function allChecked(page: Page): Promise<void> {
  await page.getByText('All checked', { exact: true }).first().waitFor({ timeout: 60_000 });
  // The table is put in order a little later.
  await page.waitForFunction(
    () => document.querySelector('.runbar__progress, .risk[data-busy]') === null,
  );
}

/** In the order of the upload; unless this is chosen, the riskiest are first. */
export async function sortByLine(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Line', exact: true }).click();
}

/** What the tiles count, such as `{ 'No change': 5 }`; zeros are shown while a list runs. */
export async function tiles(page: Page): Promise<Record<string, number>> {
  const texts = await page
    .locator('.tile')
    .evaluateAll((all) =>
      all.map((tile) => [
        tile.querySelector('.tile__name')?.textContent?.trim() ?? '',
        Number(tile.querySelector('b')?.textContent?.replace(',', '')),
      ]),
    );
  return Object.fromEntries(texts.filter(([, count]) => count !== 0));
}

/** Numbers of lines that the simulator serves, a hundred for each of the first two digits. */
export function crowd(count: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    const area = String(Math.floor(index / 100)).padStart(2, '0');
    return `+12${area}55501${String(index % 100).padStart(2, '0')}`;
  });
}

export async function operatorCounts(
  stack: Stack,
): Promise<{ lookups: number; refusedLookups: number; prompts: number; tokens: number }> {
  const reply = await fetch(stack.statsUrl);
  return (await reply.json()) as never;
}
