import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

// For the workers and for what they start: see test/compileCache.ts.
process.env['NODE_COMPILE_CACHE'] ??= join(tmpdir(), 'sim-swap-compile-cache');

export default defineConfig({
  // The graphql that Node finds. vite would take its ES modules instead, and Apollo has the other one.
  resolve: {
    alias: [{ find: /^graphql$/, replacement: fileURLToPath(import.meta.resolve('graphql')) }],
  },
  test: {
    include: ['test/**/*.test.ts'],
    // No module keeps anything that changes, so one worker reads the modules once for all of its files: a quarter of the CPU.
    isolate: false,
    // One more than CI has cores: many files wait, for an operator's interval or a process that ends.
    maxWorkers: 3,
    // Most of those that run at once wait for an operator.
    maxConcurrency: 20,
    // Wide, for a machine that has other things to do: these limits find what hangs, not what is slow.
    testTimeout: 120_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
  },
});
