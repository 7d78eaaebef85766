import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // As many as cores: a browser keeps one busy.
    maxWorkers: 2,
    globalSetup: ['../../test/support/temporary.ts', 'test/setUp.ts'],
    // Several programs and a browser start first, on machines that may be busy.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 20_000 } },
  },
});
