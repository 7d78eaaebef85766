import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AuditFile } from '../../../src/caller/audit/auditLog.ts';
import { TestClock } from '../../support/testClock.ts';
import { temporaryFolder } from '../../support/temporary.ts';

/** The files that the process has open. */
function openFiles(): number {
  return readdirSync('/dev/fd').length;
}

describe('the file of the audit log', () => {
  let clock: TestClock;
  let path: string;
  let file: AuditFile;

  beforeEach(() => {
    clock = new TestClock();
    path = join(temporaryFolder(), 'audit.jsonl');
    file = new AuditFile(path, clock);
  });
  afterEach(() => file.close());

  it('grows at its end, and only its owner can read it', async () => {
    await file.append('a\n');
    await file.append('b\n');
    expect(readFileSync(path, 'utf8')).toBe('a\nb\n');
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('may be rotated: after a second lines go to the new one', async () => {
    await file.append('a\n');
    renameSync(path, `${path}.1`);
    await clock.advance(999);
    await file.append('b\n');
    await clock.advance(1);
    await file.append('c\n');
    expect(readFileSync(`${path}.1`, 'utf8')).toBe('a\nb\n');
    expect(readFileSync(path, 'utf8')).toBe('c\n');
  });

  it('is open once', async () => {
    const before = openFiles();
    for (const line of ['a\n', 'b\n', 'c\n']) {
      await file.append(line);
      await clock.advance(1000);
    }
    expect(openFiles() - before).toBe(1);
  });

  it('is opened again after it could not be', async () => {
    const directory = join(path, '..');
    rmSync(directory, { recursive: true });
    await expect(file.append('a\n')).rejects.toThrow('ENOENT');
    mkdirSync(directory);
    await file.append('b\n');
    expect(readFileSync(path, 'utf8')).toBe('b\n');
  });
});
