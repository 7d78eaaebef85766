import { defineConfig } from 'vitest/config';

// `npm run test:package`: what the packed tarball does in folders of its own. It packs, installs and starts programs, so
// it is not part of `npm test`.
export default defineConfig({
  test: {
    include: ['test/package/**/*.check.ts'],
    globalSetup: ['test/support/temporary.ts', 'test/package/packed.ts'],
    // Most of what they start waits.
    maxWorkers: 2,
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
