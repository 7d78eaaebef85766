import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { Program } from './support/program.ts';
import { temporaryFolder } from './support/temporary.ts';

test('a run of tests leaves nothing behind: it and its programs write into the one folder that goes with it', async () => {
  // As Node's os.tmpdir() reads it.
  const { out } = await Program.run('printenv', ['TMPDIR'], {});
  expect(out.trim()).toMatch(/sim-swap-test-/);
  expect(dirname(temporaryFolder())).toBe(out.trim());
});
