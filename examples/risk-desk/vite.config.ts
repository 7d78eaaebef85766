import { readFileSync } from 'node:fs';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/** The page speaks English: it needs none of the 100 kB of words that react-aria has for other languages. */
const englishOnly: Plugin = {
  name: 'english-only',
  enforce: 'pre',
  load: (id) =>
    /\/react-(?:aria|stately|aria-components)\/.*\/intl\/.*\/(?!en-US)[a-z]{2}-[A-Z]{2}\.mjs$/.test(
      id,
    )
      ? 'export default undefined;'
      : null,
};

/** Inter's licence asks to go along wherever the font goes. */
const fontLicence: Plugin = {
  name: 'font-licence',
  generateBundle() {
    const file = import.meta.resolve('@fontsource-variable/inter/LICENSE');
    const source = readFileSync(new URL(file));
    this.emitFile({ type: 'asset', fileName: 'assets/Inter-OFL.txt', source });
  },
};

/** Builds the page into `dist/`, which the server serves under a content security policy without `unsafe-*`. */
export default defineConfig({
  root: import.meta.dirname + '/page',
  plugins: [englishOnly, react(), fontLicence],
  build: {
    outDir: '../dist',
    emptyOutDir: true,
    // Every file comes from the server: nothing inline, so that the policy needs no data: and no hash.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
