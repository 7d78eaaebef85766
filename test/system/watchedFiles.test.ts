import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { readTextIfThere } from '../../src/system/textFile.ts';
import { watchFiles } from '../../src/system/watchedFiles.ts';
import { TestClock } from '../support/testClock.ts';
import { TemporaryFiles } from '../support/temporary.ts';

class Watch implements Disposable {
  readonly clock = new TestClock();
  readonly told: (string | undefined)[] = [];
  readonly #close: () => void;

  constructor(path: string) {
    const first = new Map([[path, readTextIfThere(path)]]);
    this.#close = watchFiles(first, (texts) => this.told.push(texts.get(path)), this.clock);
  }

  /** Moves the clock on until a further change has been reported; files are read between two of its moves. */
  async nextTold(): Promise<string | undefined> {
    const before = this.told.length;
    await vi.waitUntil(
      async () => {
        await this.clock.advance(500);
        return this.told.length > before;
      },
      { interval: 2, timeout: 10_000 },
    );
    return this.told.at(-1);
  }

  /** Resolves once what it read at the latest move is judged, and it sleeps again. */
  hasRead(): Promise<boolean> {
    return vi.waitUntil(() => this.clock.sleepers === 1, { interval: 1, timeout: 10_000 });
  }

  [Symbol.dispose](): void {
    this.#close();
  }
}

describe('a watched file', () => {
  it('is reported once when it has changed, is missing, and is back', async () => {
    const files = new TemporaryFiles();
    const path = files.write('key', 'one');
    using watch = new Watch(path);
    files.write('key', 'two');
    expect(await watch.nextTold()).toBe('two');
    await watch.clock.advance(60_000);
    expect(watch.told).toEqual(['two']);
    rmSync(path);
    expect(await watch.nextTold()).toBe(undefined);
    files.write('key', 'three');
    expect(await watch.nextTold()).toBe('three');
  });

  it('may be a link whose target changes, as in a Kubernetes secret', async () => {
    const files = new TemporaryFiles();
    const at = (name: string): string => join(files.folder, name);
    for (const version of ['1', '2']) {
      mkdirSync(at(`..${version}`));
      writeFileSync(at(`..${version}/tls.key`), `key ${version}`);
    }
    symlinkSync('..1', at('..data'));
    symlinkSync('..data/tls.key', at('tls.key'));
    using watch = new Watch(at('tls.key'));
    symlinkSync('..2', at('..data_tmp'));
    renameSync(at('..data_tmp'), at('..data'));
    rmSync(at('..1'), { recursive: true });
    expect(await watch.nextTold()).toBe('key 2');
  });

  it('is reported once it stays the same: half a file is not', async () => {
    const files = new TemporaryFiles();
    const path = files.write('key', 'one');
    using watch = new Watch(path);
    let length = 0;
    for (let move = 0; move < 40; move += 1) {
      // It grows with each move of the clock.
      length += 1;
      writeFileSync(path, 'x'.repeat(length));
      await watch.clock.advance(500);
      await watch.hasRead();
    }
    expect(watch.told).toEqual([]);
    expect(await watch.nextTold()).toBe('x'.repeat(length));
  });

  it('is not read after its watch is closed', async () => {
    const files = new TemporaryFiles();
    const path = files.write('key', 'one');
    const watch = new Watch(path);
    watch[Symbol.dispose]();
    expect(watch.clock.sleepers).toBe(0);
    files.write('key', 'two');
    await watch.clock.advance(60_000);
    expect(watch.told).toEqual([]);
  });
});
