import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  // The graphql that Node finds. vite would take its ES modules instead, and Apollo has the other one.
  resolve: {
    alias: [{ find: /^graphql$/, replacement: fileURLToPath(import.meta.resolve('graphql')) }],
  },
  test: {
    include: ['test/**/*.test.ts'],
    // Left to itself vitest keeps a core free, which of two cores is half.
    maxWorkers: '100%',
    testTimeout: 30_000,
    hookTimeout: 20_000,
  },
});
