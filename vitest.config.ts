import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// For the workers and for what they start (test/support/program.ts).
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(
  new URL('node_modules/.cache/compiled', import.meta.url),
);

/**
 * Those that wait longest or share the machine worst begin first, so that none of them is left over at the end. vitest
 * itself knows how long a file takes only where it has run before.
 */
const LONG = [
  'monitoring/alerts',
  'chaos/chaos',
  'canary/leaks',
  'metrics/underLoad',
  'graphql/executed.property',
  'conformance/oidcProvider',
  'endToEnd/testNumbers',
  'sharedState/faults',
  'sharedState/redisCluster',
  'caller/audit/hungDisk',
  'endToEnd/operatorWords',
  'endToEnd/profiles',
  'tracing/tracing',
  'http/endpointSpares',
  'endToEnd/stopping',
  'rotation/restart',
  'simulator/main',
].map((name) => `/test/${name}.test.ts`);

class LongestFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return Promise.resolve(files.toSorted((a, b) => placeOf(a) - placeOf(b)));
  }
}

function placeOf({ moduleId }: TestSpecification): number {
  const index = LONG.findIndex((name) => moduleId.endsWith(name));
  return index === -1 ? LONG.length : index;
}

export default defineConfig({
  // The graphql that Node finds. vite would take its ES modules instead, and Apollo has the other one.
  resolve: {
    alias: [{ find: /^graphql$/, replacement: fileURLToPath(import.meta.resolve('graphql')) }],
  },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/temporary.ts',
    // No module keeps anything that changes, so one worker reads the modules once for all of its files: a quarter of the CPU.
    isolate: false,
    // Three for each core of CI: many files wait, for an operator's interval or a process that ends.
    maxWorkers: 6,
    sequence: { sequencer: LongestFirst },
    // Most of those that run at once wait for an operator.
    maxConcurrency: 20,
    // Wide, for a machine that has other things to do: these limits find what hangs, not what is slow.
    testTimeout: 120_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
  },
});
