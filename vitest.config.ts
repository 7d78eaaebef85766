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
    // Wide, for a machine that has other things to do: these limits find what hangs, not what is slow.
    testTimeout: 120_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
  },
});
