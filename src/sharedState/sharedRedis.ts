import { clockElsewhere, slept, type Clock, type ClockElsewhere } from '../system/clock.ts';
import { storeChannel } from '../log/diagnostics.ts';
import type { Log } from '../log/log.ts';
import {
  COMMAND_TIMEOUT_MS,
  OutOfMemory,
  SharedStateLost,
  type PlainRedis,
  type Redis,
  type ScriptValues,
  type TimedValues,
} from './redis.ts';

/** The pause between a connection that broke during a script and the script's next try. */
const TRY_AGAIN_MS = 50;
/** How often connections are tried that the server does not accept yet. */
const TRY_NEXT_MS = 1000;

/**
 * Runs scripts so that one that arrives late does nothing, and sends a script again that was lost on its way. Each
 * script must therefore tolerate arriving twice; one that would not has an id, which its repetitions share. A script
 * refuses to run after its last moment, in its server's time: what was reported as lost is not done later.
 */
export class SharedRedis implements Redis {
  #redis: PlainRedis;
  /** The connection that will replace it. */
  #next: PlainRedis | undefined;
  readonly #clock: Clock;
  readonly #log: Log;
  /** The clock of each server, by its last reply. */
  readonly #clocks = new Map<string, ClockElsewhere>();
  /** Servers that run nothing, and since when. */
  readonly #lostSinceMs = new Map<string, number>();
  readonly #recoveryListeners: (() => void)[] = [];
  readonly #closing = new AbortController();

  constructor(redis: PlainRedis, clock: Clock, log: Log) {
    this.#redis = redis;
    this.#clock = clock;
    this.#log = log;
  }

  open(): Promise<void> {
    return this.#redis.open();
  }

  async run(
    script: string,
    keys: readonly string[],
    values: TimedValues = [],
    timeoutMs = COMMAND_TIMEOUT_MS,
  ): Promise<unknown> {
    const endsAtMs = this.#clock.monotonicMs() + timeoutMs;
    for (;;) {
      const server = this.#redis.serverOf(keys[0] ?? '');
      const sentAtMs = this.#clock.monotonicMs();
      try {
        const sent = timedValues(values, sentAtMs, endsAtMs, this.#clocks.get(server));
        const reply = await this.#redis
          .run(timed(script), keys, sent, endsAtMs - sentAtMs)
          .finally(() => {
            const tookMs = this.#clock.monotonicMs() - sentAtMs;
            storeChannel.publish({ event: 'command', tookMs });
          });
        const [nowText, outcome, result] = Array.isArray(reply) ? (reply as unknown[]) : [];
        const nowMs = typeof nowText === 'string' ? Number(nowText) : Number.NaN;
        if (!Number.isFinite(nowMs)) throw new SharedStateLost();
        this.#clocks.set(server, clockElsewhere(nowMs, sentAtMs, this.#clock.monotonicMs()));
        this.#lostSinceMs.delete(server);
        if (outcome === 'done') return result;
        // The server's clock was set, or another server has taken over; its time is known now.
      } catch (error) {
        this.#reportFailure(error, server);
        const isLost = error instanceof SharedStateLost && !(error instanceof OutOfMemory);
        if (!(isLost && this.#isLostLately(server))) throw error;
        await slept(this.#clock, TRY_AGAIN_MS, this.#closing.signal);
      }
      if (this.#closing.signal.aborted || this.#clock.monotonicMs() >= endsAtMs)
        throw new SharedStateLost();
    }
  }

  serverOf(key: string): string {
    return this.#redis.serverOf(key);
  }

  onBack(listener: () => void): void {
    this.#recoveryListeners.push(listener);
    this.#redis.onBack(listener);
  }

  /** Commands under way are lost at once, so that they do not keep a process alive. */
  close(): void {
    this.#closing.abort();
    this.#next?.close();
    this.#redis.close();
  }

  /** The present connections continue until others are accepted: nothing is lost in between. Never rejects. */
  async renew(next: PlainRedis): Promise<void> {
    this.#next?.close();
    this.#next = next;
    await next.open();
    if (!(await this.#isAccepted(next))) return;
    const before = this.#redis;
    this.#redis = next;
    this.#next = undefined;
    for (const listener of this.#recoveryListeners) next.onBack(listener);
    // By then commands on the former connections have a reply, or are lost.
    await slept(this.#clock, COMMAND_TIMEOUT_MS, this.#closing.signal);
    before.close();
  }

  /** Waits until it is accepted; `false` when it is replaced, or this is closed. */
  async #isAccepted(next: PlainRedis): Promise<boolean> {
    while (this.#next === next && !this.#closing.signal.aborted) {
      try {
        await next.run('return 1', [READY]);
        return this.#next === next;
      } catch (error) {
        this.#reportFailure(error, next.serverOf(READY));
        await slept(this.#clock, TRY_NEXT_MS, this.#closing.signal);
      }
    }
    return false;
  }

  /** Whether a server was lost only recently, and may soon be back; one that is away for longer is not waited for. */
  #isLostLately(server: string): boolean {
    const nowMs = this.#clock.monotonicMs();
    const sinceMs = this.#lostSinceMs.get(server) ?? nowMs;
    this.#lostSinceMs.set(server, sinceMs);
    return nowMs - sinceMs < COMMAND_TIMEOUT_MS;
  }

  #reportFailure(error: unknown, host: string): void {
    const isFull = error instanceof OutOfMemory;
    storeChannel.publish({ event: isFull ? 'full' : 'lost' });
    if (isFull) this.#log.warn(FULL, { host });
  }
}

const READY = 'sim-swap:ready';

const FULL =
  'The shared store is full: no owner is prompted, facts are not kept, and each replica counts quotas by itself. Give it more memory (maxmemory).';

/**
 * The moments between which a script may run, and its own values. Values that were computed from the server's clock are
 * valid while that clock is not behind the estimate. Until a reply has brought the server's time a script does nothing;
 * its next try runs.
 */
function timedValues(
  values: TimedValues,
  sentAtMs: number,
  endsAtMs: number,
  server: ClockElsewhere | undefined,
): ScriptValues {
  if (server === undefined) return [0, 0];
  const lastMoment = (endsAtMs + server.minAheadMs).toFixed(3);
  return typeof values === 'function'
    ? [(sentAtMs + server.minAheadMs).toFixed(3), lastMoment, ...values(server)]
    : [0, lastMoment, ...values];
}

/** Its first two values are its first and last moment. Returns the time, and 'untimely', or 'done' and the result. */
const timed = perScript(
  (script) => `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local nowText = string.format('%.3f', now)
local firstMoment, lastMoment = table.remove(ARGV, 1), table.remove(ARGV, 1)
if now < tonumber(firstMoment) or now > tonumber(lastMoment) then return { nowText, 'untimely' } end
local function run()
${script}
end
return { nowText, 'done', run() }
`,
);

/** Scripts are part of the code, so there are few. */
export function perScript(make: (script: string) => string): (script: string) => string {
  const made = new Map<string, string>();
  return (script) => {
    const text = made.get(script) ?? make(script);
    made.set(script, text);
    return text;
  };
}
