import { createServer, type Socket } from 'node:net';
import { AUDIENCE, ISSUER } from '../../caller/testIssuer.ts';
import type { Attack } from '../attack.ts';
import { AUDIT_KEY } from '../stage.ts';
import { inTurn } from '../values.ts';
import { listen } from '../../listening.ts';

const MAX_MS = 5500;
const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';

/** What the address of the keys may do; or what stands in between. */
const MANNERS: Readonly<Record<string, (socket: Socket) => void>> = {
  silence: () => undefined,
  'a byte now and then': (socket) => {
    socket.write(`${HEAD}content-length: 100000\r\n\r\n{`);
    pour(socket, ' ', 200);
  },
  'a body without an end': (socket) => {
    socket.write(`${HEAD}transfer-encoding: chunked\r\n\r\n`);
    pour(socket, `4000\r\n${' '.repeat(0x4000)}\r\n`, 1);
  },
  'keys that are none': (socket) => {
    const body = '{"keys":[null,{"kty":"RSA"},{"kty":"oct","k":"AA"},7],"__proto__":{"keys":[]}}';
    socket.end(`${HEAD}content-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`);
  },
  'a redirect': (socket) => {
    socket.end('HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n');
  },
};

export const hostileIssuer: Attack = {
  name: 'hostile-issuer',
  tries: 'to hang the gate, the memory or the drain by the address that the keys are fetched from',
  holds: 'each request is refused in time, little is kept, SIGTERM ends the process',
  async run(stage) {
    const operator = await stage.operator({});
    const token = `${encoded({ alg: 'RS256', kid: 'x' })}.${encoded({ sub: 'x' })}.AAAA`;
    for (const [name, answer] of Object.entries(MANNERS)) {
      const server = createServer((socket) => {
        socket.on('error', () => undefined).once('data', () => answer(socket));
      });
      const url = await listen(server);
      stage.onEnd(async () => server.close());
      const target = await stage.serve(operator, {
        JWT_JWKS_URL: `${url}/jwks`,
        JWT_ISSUER: ISSUER,
        JWT_AUDIENCE: AUDIENCE,
        AUDIT_KEY,
      });
      const before = await target.figures();
      let slowestMs = 0;
      const statuses = new Set<number>();
      await inTurn(Array.from({ length: 30 }), 10, async () => {
        const { status, tookMs } = await target.ask('{ __typename }', { token });
        slowestMs = Math.max(slowestMs, tookMs);
        statuses.add(status);
      });
      const isRefused = [...statuses].every((status) => status === 401 || status === 503);
      stage.holds(`${name}: statuses`, isRefused, [...statuses]);
      stage.atMost(`${name}: ms`, slowestMs, MAX_MS);
      stage.atMost(`${name}: MB kept`, await target.grownMb(before), 16);
    }
  },
};

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}

function pour(socket: Socket, piece: string, everyMs: number): void {
  const timer = setInterval(() => socket.write(piece), everyMs);
  socket.once('close', () => clearInterval(timer));
}
