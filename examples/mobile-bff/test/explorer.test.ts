import axeCore from 'axe-core';
import { chromium, type Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser, LAUNCH_OPTIONS } from '../../browser.ts';
import { startProgram, type ServingProcess } from '../../processes.ts';

// Here, where a browser is: what a browser opens after `npm start`.
describe.skipIf(!hasBrowser())('the explorer of the BFF', () => {
  let bff: ServingProcess;
  let browser: Browser;
  beforeAll(async () => {
    bff = await startProgram(new URL('../../../src/main.ts', import.meta.url), {
      PORT: '0',
      ROLE: 'bff',
    });
    browser = await chromium.launch(LAUNCH_OPTIONS);
  });
  afterAll(async () => {
    await browser?.close();
    await bff?.stop();
  });

  it('opens with three tabs, an answer and the test numbers, and is the same after a reload', async () => {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const page = await context.newPage();
    await page.goto(`${bff.url}/graphql`);
    await page.locator('.graphiql-response').getByText('simSwappedWithin').waitFor();
    const tabs = page.locator('.graphiql-tab-button');
    expect(await tabs.allTextContents()).toEqual(['Number', 'List', 'WhyUnknown']);

    await page.getByRole('button', { name: '+447700900010' }).click();
    await page.getByText('Copied +447700900010').waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('+447700900010');

    await tabs.getByText('WhyUnknown').click();
    // For 100 ms after a change of tab GraphiQL sends the name of the operation before it.
    await expect
      .poll(
        async () => {
          await page.locator('.graphiql-execute-button').click();
          return page.locator('.graphiql-response').innerText();
        },
        { timeout: 20_000 },
      )
      .toContain('NUMBER_NOT_SERVED');
    // GraphiQL would write an edit into the address.
    await page.locator('.graphiql-query-editor .view-line').first().click();
    await page.keyboard.type('# edited ');
    await page.getByText('# edited').waitFor();
    await page.waitForTimeout(500);
    expect(page.url()).toBe(`${bff.url}/graphql`);
    await page.reload();
    await page.locator('.graphiql-query-editor').getByText('# edited').waitFor();
    await context.close();
  });

  it.each([
    [1440, 'light'],
    [1024, 'dark'],
    [390, 'light'],
  ] as const)('can be used at %d px, %s', async (width, colorScheme) => {
    const page = await browser.newPage({ viewport: { width, height: 844 }, colorScheme });
    await page.goto(`${bff.url}/graphql`);
    const answer = page.locator('.graphiql-response');
    await answer.getByText('simSwappedWithin').waitFor();
    const [panel, query, reply] = await Promise.all(
      ['aside', '.graphiql-query-editor', '.graphiql-response'].map((one) =>
        page.locator(one).boundingBox(),
      ),
    );
    for (const box of [panel, query, reply]) {
      expect(box?.width).toBeGreaterThan(250);
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(width + 1);
    }
    await page.evaluate(axeCore.source);
    const findings = await page.evaluate(async () => {
      const { axe } = globalThis as unknown as { axe: typeof axeCore };
      // GraphiQL's tabs hold buttons.
      const { violations } = await axe.run({ exclude: ['.graphiql-tabs'] });
      return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)}`);
    });
    expect(findings).toEqual([]);
    await page.close();
  });
});
