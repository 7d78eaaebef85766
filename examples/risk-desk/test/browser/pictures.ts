import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';

const DIRECTORY = fileURLToPath(new URL('../../../../docs/risk-desk', import.meta.url));

/** Set to write the pictures of docs/risk-desk again: `SCREENSHOTS=write npm test`. */
const WRITES = process.env['SCREENSHOTS'] === 'write';

/** Of these each view has a picture of its own; of the others there is one sheet. */
const MODE_OF_DOCUMENTATION = 'light';

/** Pictures of the views in one mode. They are made only where they are wanted. */
export class Pictures {
  readonly #mode: string;
  readonly #taken: string[] = [];

  constructor(mode: string) {
    this.#mode = mode;
  }

  async take(page: Page, view: string): Promise<void> {
    if (!WRITES) return;
    // Where the mouse is, and what it hovers, is no part of it.
    await page.mouse.move(0, 0);
    await page.evaluate(() => window.scrollTo(0, 0));
    await mkdir(DIRECTORY, { recursive: true });
    const isSingle = this.#mode === MODE_OF_DOCUMENTATION;
    const picture = await page.screenshot(isSingle ? { path: `${DIRECTORY}/${view}.png` } : {});
    this.#taken.push(picture.toString('base64'));
  }

  async save(browser: Browser): Promise<void> {
    if (!WRITES || !['dark', 'phone'].includes(this.#mode)) return;
    // Phones as they are, four in a row; the others at half their size.
    const [columns, width] = this.#mode === 'phone' ? [4, 320] : [2, 640];
    const sheetWidth = columns * width + (columns + 1) * 8;
    const page = await browser.newPage({ viewport: { width: sheetWidth, height: 100 } });
    const images = this.#taken.map((data) => `<img src="data:image/png;base64,${data}">`);
    await page.setContent(
      `<style>body{margin:8px;display:grid;grid-template-columns:repeat(${columns},${width}px);gap:8px;background:#888}img{width:100%}</style>${images.join('')}`,
    );
    await page.screenshot({ path: `${DIRECTORY}/${this.#mode}.png`, fullPage: true });
    await page.close();
  }
}
