import { readdir, readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import type { ProbeFigures } from '../long/probe.ts';
import { ProbedServer } from '../long/probedServer.ts';
import type { Exit } from '../support/program.ts';

/** A later reply never comes. */
const HANGS_AFTER_MS = 12_000;
const MEGABYTE = 1024 * 1024;

/** A request for the page of the explorer. */
export const PAGE = 'GET /graphql HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: text/html\r\n\r\n';

/** A reply of the attacked service; `status` 0 where none came. */
export interface Reply {
  readonly status: number;
  readonly tookMs: number;
  /** Whether the SIM was swapped, as the query of `within` has it, or the codes of the errors. */
  readonly answer: unknown;
}

interface Body {
  readonly data?: { readonly phoneNumber?: { readonly simSwappedWithin?: unknown } | null } | null;
  readonly errors?: readonly { readonly extensions?: { readonly code?: string } }[];
}

/** The service under attack. */
export class Target extends ProbedServer {
  get output(): string {
    return this.out + this.err;
  }

  /** @param body beside the query, such as variables */
  async ask(query: string, token?: string, body: object = {}): Promise<Reply> {
    const sentAtMs = performance.now();
    const headers: Record<string, string> =
      token === undefined ? {} : { authorization: `Bearer ${token}` };
    const { status, text } = await this.post(
      JSON.stringify({ query, ...body }),
      HANGS_AFTER_MS,
      headers,
    ).catch(() => ({ status: 0, text: '{}' }));
    const { data, errors = [] } = JSON.parse(text) as Body;
    const codes = errors.map(({ extensions }) => extensions?.code ?? 'no code');
    const answer = data?.phoneNumber?.simSwappedWithin ?? codes.join();
    return { status, tookMs: performance.now() - sentAtMs, answer };
  }

  /** The status of a path, 0 where no answer comes. */
  async statusOf(path: string): Promise<number> {
    try {
      const signal = AbortSignal.timeout(HANGS_AFTER_MS);
      const { statusCode, body } = await request(`${this.url}${path}`, { signal });
      await body.dump();
      return statusCode;
    } catch {
      return 0;
    }
  }

  async grownMb(before: ProbeFigures): Promise<number> {
    return (bytesOf(await this.figures()) - bytesOf(before)) / MEGABYTE;
  }

  async fileDescriptors(): Promise<number> {
    return (await readdir(`/proc/${this.pid}/fd`)).length;
  }

  /** The same, once they are at most so many or the time is over. */
  async fileDescriptorsAtMost(limit: number, withinMs: number): Promise<number> {
    const givesUpAtMs = performance.now() + withinMs;
    for (;;) {
      const open = await this.fileDescriptors();
      if (open <= limit || performance.now() > givesUpAtMs) return open;
      await sleep(250);
    }
  }

  /** Connections that each send a text and read nothing. */
  stalled(count: number, textOf: (index: number) => string): readonly Socket[] {
    return Array.from({ length: count }, (_, index) => {
      const socket = connect(Number(new URL(this.url).port), '127.0.0.1');
      socket.on('error', () => undefined).pause();
      socket.write(textOf(index));
      return socket;
    });
  }

  async resident(): Promise<{ readonly peakBytes: number; readonly nowBytes: number }> {
    const status = await readFile(`/proc/${this.pid}/status`, 'utf8');
    const bytes = (name: string): number =>
      Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * 1024;
    return { peakBytes: bytes('VmHWM'), nowBytes: bytes('VmRSS') };
  }

  /** Sends SIGTERM; `undefined` when it has not ended within so long, and then it is killed. */
  async terminate(withinMs: number): Promise<Exit | undefined> {
    // The attack's own connections are no reason to wait.
    void this.hangUp();
    this.signal('SIGTERM');
    const ended = await Promise.race([this.exit, sleep(withinMs, undefined, { ref: false })]);
    if (ended === undefined) await this[Symbol.asyncDispose]();
    return ended;
  }
}

function bytesOf({ heapBytes, externalBytes }: ProbeFigures): number {
  return heapBytes + externalBytes;
}
