import { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { IdleDetector, SpareConnections } from '../../src/wire/spareConnections.ts';
import type { OnConnected, TlsConnector } from '../../src/wire/tlsConnector.ts';
import { systemClock } from '../../src/system/clock.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** The part of a connection that spares use. */
class FakeSocket extends Duplex {
  isTaken = false;

  override _read(): void {}

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}

const after = (ms: number) => vi.advanceTimersByTimeAsync(ms);

const HANDSHAKE_MS = 2;
const EXCHANGE_MS = 10;
const LULL_MS = 60;

/** Spare connections of one endpoint, under fake timers. */
class Spares {
  readonly made: FakeSocket[] = [];
  readonly spares: SpareConnections;

  constructor(connections = 256) {
    const parts = { clock: systemClock, idleDetector: new IdleDetector(), connections };
    this.spares = new SpareConnections({ ...parts, connector: this as unknown as TlsConnector });
  }

  connect(_protocols: unknown, onConnected: OnConnected): void {
    const socket = new FakeSocket();
    this.made.push(socket);
    setTimeout(() => onConnected(socket as unknown as TLSSocket), HANDSHAKE_MS);
  }

  /** Exchanges that begin together, each with its own connection. */
  begin(size: number, exchangeMs: number): readonly FakeSocket[] {
    const taken: FakeSocket[] = [];
    for (let index = 0; index < size; index += 1) {
      this.spares.take((connected) => {
        const socket = connected as unknown as FakeSocket;
        socket.isTaken = true;
        taken.push(socket);
        setTimeout(() => socket.destroy(), exchangeMs);
      });
    }
    return taken;
  }

  async burst(size: number, exchangeMs = EXCHANGE_MS): Promise<readonly FakeSocket[]> {
    const taken = this.begin(size, exchangeMs);
    await after(exchangeMs + HANDSHAKE_MS);
    return taken;
  }

  /** Bursts with the lulls after them, in which spares are made. */
  async bursts(size: number, times = 2): Promise<void> {
    for (let count = 0; count < times; count += 1) {
      await this.burst(size);
      await after(LULL_MS + HANDSHAKE_MS);
    }
  }

  /** Those that are open and have carried nothing. */
  get unused(): readonly FakeSocket[] {
    return this.made.filter(({ destroyed, isTaken }) => !destroyed && !isTaken);
  }
}

async function ready(count: number, connections?: number): Promise<Spares> {
  const test = new Spares(connections);
  await test.bursts(count);
  expect(test.spares.count).toBe(count);
  return test;
}

describe('spare connections', () => {
  it('are as many as the latest burst took, made in the lull after it, and live for two seconds', async () => {
    const test = new Spares();
    await test.bursts(8, 1);
    expect(test.made, 'none after the first burst').toHaveLength(8);
    await test.burst(30);
    await after(LULL_MS - 1);
    expect(test.made).toHaveLength(38);
    await after(1 + HANDSHAKE_MS);
    expect(test.spares.count).toBe(30);
    expect((await test.burst(30)).every((socket) => test.made.indexOf(socket) >= 38)).toBe(true);
    expect(test.made, 'none are made during a burst').toHaveLength(68);
    await after(LULL_MS + HANDSHAKE_MS);
    expect(test.spares.count).toBe(30);
    await after(1990);
    expect(test.unused).toHaveLength(30);
    await after(60_000);
    expect(test.unused).toHaveLength(0);
    expect(test.made, 'none are made without a burst').toHaveLength(98);
  });

  it('are as many as a burst of more than half a second had in use at a time', async () => {
    const test = new Spares();
    for (let round = 0; round < 20; round += 1) await test.burst(8, 30);
    await after(LULL_MS + HANDSHAKE_MS);
    expect(test.spares.count).toBe(8);
  });

  it.each([
    [150, undefined, 100],
    [30, 8, 8],
  ])('of %d with %s connections allowed, are never more than %d', async (size, allowed, most) => {
    const test = new Spares(allowed);
    for (let round = 0; round < 3; round += 1) {
      await test.bursts(size, 1);
      expect(test.unused.length).toBeLessThanOrEqual(most);
    }
    expect(test.spares.count).toBe(most);
  });

  it('leave room for those in use, and are made once these are closed', async () => {
    const test = await ready(8, 8);
    test.begin(8, 1000);
    await after(LULL_MS + HANDSHAKE_MS);
    expect(test.unused).toHaveLength(0);
    await after(1000 + LULL_MS);
    expect(test.spares.count).toBe(8);
  });

  it('are replaced one by one, after 5 ms, where they are taken one by one', async () => {
    const test = await ready(8);
    const [socket] = await test.burst(1, 100);
    expect(socket).toBe(test.made[23]);
    expect(test.spares.count, 'no more than four').toBe(7);
    for (let count = 0; count < 4; count += 1) await test.burst(1, 30);
    expect(test.spares.count).toBe(4);
    const before = test.made.length;
    for (let count = 0; count < 20; count += 1) await test.burst(1, 30);
    expect(test.made.length - before).toBe(20);
    expect(test.spares.count).toBe(4);
  });

  it('that the server has closed or written to are not handed over', async () => {
    const test = await ready(8);
    const [ended, spoken, justNow] = test.unused;
    ended?.destroy();
    spoken?.push('HTTP/1.1 408 Request Timeout');
    await after(0);
    const taken = test.burst(7);
    justNow?.push('HTTP/1.1 200 OK');
    expect(await taken).not.toEqual(expect.arrayContaining([ended, spoken, justNow]));
    expect(test.spares.count).toBe(0);
  });

  it('live half as long as the server kept one open; where that is too short, there are none for ten minutes', async () => {
    const test = await ready(8);
    await after(1000);
    test.unused[0]?.destroy();
    await after(0);
    await test.bursts(8);
    await after(480);
    expect(test.spares.count).toBe(8);
    await after(20);
    expect(test.spares.count).toBe(0);

    await test.bursts(8);
    await after(300);
    test.unused[0]?.destroy();
    await after(0);
    expect(test.spares.count).toBe(0);
    await test.bursts(8, 5);
    expect(test.spares.count).toBe(0);
    await after(10 * 60_000);
    await test.bursts(8);
    expect(test.spares.count).toBe(8);
  });

  it.each(['renew', 'close'] as const)('%s: those that are ready end', async (end) => {
    const test = await ready(8);
    test.spares[end]();
    expect(test.unused).toHaveLength(0);
    await test.bursts(8, 1);
    expect(test.unused).toHaveLength(end === 'renew' ? 8 : 0);
  });
});
