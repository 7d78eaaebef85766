import { connect } from 'node:net';
import { bodiesOf, numberAt, type FloodKind, type Role } from './floodBodies.ts';

// The hostile caller of floods.ts, in a process of its own, so that others' replies are not late because of it.

export interface Flood {
  readonly port: number;
  readonly role: Role;
  readonly kind: FloodKind;
  readonly headers: Readonly<Record<string, string>>;
  /** At once, with a request each, again and again. */
  readonly connections: number;
  /** No request begins later; each connection has one in any case. */
  readonly forMs: number;
}

export interface FloodResult {
  /** By status; `lost` where the connection ended without one. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly tookMs: number;
}

/** A body without an end gets a byte more each so often. */
const DRIP_MS = 500;

let sent = 0;

async function flood({
  port,
  role,
  kind,
  headers,
  connections,
  forMs,
}: Flood): Promise<FloodResult> {
  const statuses: Record<string, number> = {};
  const bodies = bodiesOf(kind, role).map(([before, after]) => ({
    before,
    after: Buffer.from(after),
  }));
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const isEndless = kind === 'endless';
  const startedAtMs = performance.now();
  const one = (): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const body = bodies[sent % bodies.length];
    if (body === undefined) throw new Error('There is no body.');
    const before = body.before + (kind === 'fragments' ? sent : numberAt(sent));
    sent += 1;
    const length = Buffer.byteLength(before) + body.after.length + (isEndless ? 100 : 0);
    let status = 'lost';
    const socket = connect(port, '127.0.0.1');
    socket.write(
      `POST /graphql HTTP/1.1\r\nhost: 127.0.0.1\r\n${lines.join('')}connection: close\r\ncontent-length: ${length}\r\n\r\n${before}`,
    );
    // The same bytes each time: four thousand bodies of a megabyte take one.
    socket.write(body.after);
    const drip = isEndless ? setInterval(() => socket.write(' '), DRIP_MS) : undefined;
    socket.on('data', (reply: Buffer) => {
      if (status === 'lost') status = reply.toString('latin1', 9, 12);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearInterval(drip);
      statuses[status] = (statuses[status] ?? 0) + 1;
      resolve();
    });
    return promise;
  };
  const again = async (): Promise<void> => {
    do await one();
    while (performance.now() < startedAtMs + forMs);
  };
  await Promise.all(Array.from({ length: connections }, again));
  return { statuses, tookMs: performance.now() - startedAtMs };
}

process.on('message', (message) => {
  void flood(message as Flood).then((result) => process.send?.(result));
});
process.on('disconnect', () => process.exit());
