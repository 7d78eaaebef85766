import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { WRITES_PICTURES } from '../../../browser.ts';

const DIRECTORY = fileURLToPath(new URL('../../../../docs/risk-desk', import.meta.url));

/** Of these each view has a picture of its own. */
const MODE_OF_DOCUMENTATION = 'light';

/** One picture of all views: phones as they are, four in a row; dark ones at half their size. */
const SHEETS = [
  { mode: 'dark', columns: 2, width: 640 },
  { mode: 'phone', columns: 4, width: 320 },
];

/** Pictures of the views. They are made only where they are wanted. */
export class Pictures {
  /** Base64, by mode. */
  readonly #taken = new Map<string, string[]>(SHEETS.map(({ mode }) => [mode, []]));

  async take(page: Page, mode: string, view: string): Promise<void> {
    if (!WRITES_PICTURES) return;
    // The mouse, and what it hovers, is not a part of it.
    await page.mouse.move(0, 0);
    await page.evaluate(() => window.scrollTo(0, 0));
    await mkdir(DIRECTORY, { recursive: true });
    const isSingle = mode === MODE_OF_DOCUMENTATION;
    const picture = await page.screenshot(isSingle ? { path: `${DIRECTORY}/${view}.png` } : {});
    this.#taken.get(mode)?.push(picture.toString('base64'));
  }

  async save(browser: Browser): Promise<void> {
    if (!WRITES_PICTURES) return;
    for (const { mode, columns, width } of SHEETS) {
      const sheetWidth = columns * width + (columns + 1) * 8;
      const page = await browser.newPage({ viewport: { width: sheetWidth, height: 100 } });
      const taken = this.#taken.get(mode) ?? [];
      const images = taken.map((data) => `<img src="data:image/png;base64,${data}">`);
      await page.setContent(
        `<style>body{margin:8px;display:grid;grid-template-columns:repeat(${columns},${width}px);gap:8px;background:#888}img{width:100%}</style>${images.join('')}`,
      );
      await page.screenshot({ path: `${DIRECTORY}/${mode}.png`, fullPage: true });
      await page.close();
    }
  }
}
