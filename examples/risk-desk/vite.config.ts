import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Builds the page into `dist/`, which the server serves under a content security policy without `unsafe-*`. */
export default defineConfig({
  root: import.meta.dirname + '/page',
  plugins: [react()],
  build: {
    outDir: '../dist',
    emptyOutDir: true,
    // Every file comes from the server: nothing inline, so that the policy needs no data: and no hash.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
