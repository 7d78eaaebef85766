import { Session, type HeapProfiler } from 'node:inspector/promises';
import { promiseHooks } from 'node:v8';

/** Small enough that a thousand numbers are some ten thousand samples. */
const SAMPLING_BYTES = 4096;

/**
 * Counts what this process allocates. One at a time: V8 makes a promise more for each `await` while promises are
 * counted, so bytes are not those of a process that counts them.
 */
export class AllocationCount {
  #session: Session | undefined;
  #promises = 0;
  #stopPromises: (() => void) | undefined;

  startPromises(): void {
    this.#promises = 0;
    const count = (): void => void (this.#promises += 1);
    this.#stopPromises = promiseHooks.onInit(count) as () => void;
  }

  /** Since the start; each `await` counts as one. */
  stopPromises(): number {
    this.#stopPromises?.();
    return this.#promises;
  }

  async startBytes(): Promise<void> {
    const session = new Session();
    session.connect();
    await session.post('HeapProfiler.startSampling', {
      samplingInterval: SAMPLING_BYTES,
      includeObjectsCollectedByMajorGC: true,
      includeObjectsCollectedByMinorGC: true,
    });
    this.#session = session;
  }

  /** On the heap since the start, whether collected or not, by V8's samples. */
  async stopBytes(): Promise<number> {
    const session = this.#session;
    if (session === undefined) return 0;
    const { profile } = await session.post('HeapProfiler.stopSampling');
    session.disconnect();
    this.#session = undefined;
    return bytesBelow(profile.head);
  }
}

function bytesBelow({ selfSize, children }: HeapProfiler.SamplingHeapProfileNode): number {
  return children.reduce((bytes, child) => bytes + bytesBelow(child), selfSize);
}
