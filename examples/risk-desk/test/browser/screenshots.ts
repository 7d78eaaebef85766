import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

const DIRECTORY = fileURLToPath(new URL('../../../../docs/risk-desk', import.meta.url));

/** Set to write the pictures of docs/risk-desk anew: `SCREENSHOTS=write npm test`. */
const WRITES = process.env['SCREENSHOTS'] === 'write';

/** Makes the picture each time; it goes where the documentation has it only when that is wanted. */
export async function saveScreenshot(page: Page, name: string): Promise<void> {
  // Where the mouse is, and what it hovers, is no part of it.
  await page.mouse.move(0, 0);
  if (WRITES) await mkdir(DIRECTORY, { recursive: true });
  await page.screenshot(WRITES ? { path: `${DIRECTORY}/${name}.png` } : {});
}
