import { defineConfig } from 'vitest/config';

export default defineConfig({
  // Several programs start first, on machines that may be busy.
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: '../../test/support/temporary.ts',
    setupFiles: ['test/dom.ts'],
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
});
