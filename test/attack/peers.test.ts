import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { AUDIENCE, ISSUER } from '../caller/testIssuer.ts';
import type { Answer, Received } from '../http/recordingServer.ts';
import { freshStateKey } from '../redisServer.ts';
import { attack, AUDIT_KEY, isAtMost, isEqual } from './stage.ts';
import { answerIn, inTurn, number, within } from './values.ts';

const MAX_MS = 4500;
const OPERATOR_TIMEOUT_MS = 1500;

const head = ({ correlator }: Received): Record<string, string> => ({
  'content-type': 'application/json',
  'x-correlator': correlator,
});

function pour(into: ServerResponse | Socket, piece: string, everyMs: number): void {
  const timer = setInterval(() => into.write(piece), everyMs);
  into.once('close', () => clearInterval(timer));
}

const REPLIES: Readonly<Record<string, Answer>> = {
  'a body without an end': (received, response) => {
    response.writeHead(200, head(received));
    pour(response, ' '.repeat(16_384), 1);
  },
  'a byte now and then': (received, response) => {
    response.writeHead(200, head(received));
    pour(response, ' ', 100);
  },
  'a body of another length': (received, response) => {
    response.writeHead(200, { ...head(received), 'content-length': '1000000000' });
    response.write('{"swapped":false}');
  },
  'compressed without having been asked': (received, response) => {
    response.writeHead(200, { ...head(received), 'content-encoding': 'gzip' });
    response.end('{"swapped":false}');
  },
  'headers without an end': (_received, { socket }) => {
    socket?.write(`HTTP/1.1 200 OK\r\n${'x-y: z\r\n'.repeat(20_000)}`);
  },
  'information for ever': (_received, response) => {
    const timer = setInterval(() => response.socket?.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 20);
    response.once('close', () => clearInterval(timer));
    response.socket?.once('close', () => clearInterval(timer));
  },
  'another protocol': (_received, { socket }) => {
    socket?.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n');
  },
  'two replies': ({ correlator }, { socket }) => {
    const one = (body: string): string =>
      `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-correlator: ${correlator}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    socket?.write(`${one('{"swapped":"?"}')}${one('{"swapped":false}')}`);
  },
  'two lengths': ({ correlator }, { socket }) => {
    socket?.write(
      `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-correlator: ${correlator}\r\ncontent-length: 17\r\ncontent-length: 5\r\n\r\n{"swapped":false}`,
    );
  },
  'deeply nested': (received, response) => {
    response.writeHead(200, head(received));
    response.end(`{"swapped":false,"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`);
  },
  'a line that looks like a log': (received, response) => {
    response.writeHead(400, head(received));
    response.end(
      JSON.stringify({ code: 'x"}\n{"level":30,"audit":"after"}', message: 'about +447700900123' }),
    );
  },
};

/** Tries to hang the service or fill its memory by what an operator sends. */
attack('hostile-replies', async (stage) => {
  const operator = await stage.operator({});
  const target = await stage.serve(operator, {
    OPERATOR_TIMEOUT_MS: String(OPERATOR_TIMEOUT_MS),
    OPERATOR_OPERATIONS: 'check',
  });
  await target.ask(within(number(900)));
  const before = await target.figures();
  const descriptorsBefore = await target.fileDescriptors();
  for (const [index, [name, lookUp]] of Object.entries(REPLIES).entries()) {
    operator.script = { lookUp };
    const reply = await target.ask(within(number(index)));
    operator.script = {};
    await Promise.all([1, 2].map((n) => target.ask(within(number(300 + 10 * index + n)))));
    const answer = answerIn(reply);
    // What is deep is no less a reply than any other: `swapped` stands there, once.
    const mayAnswer = name === 'deeply nested';
    if (!mayAnswer) isEqual(name, answer, expect.any(String));
    isAtMost(`${name}, ms`, reply.tookMs, MAX_MS);
  }
  isAtMost('MB kept', await target.grownMb(before), 16);
  isAtMost('descriptors more', (await target.fileDescriptors()) - descriptorsBefore, 12);
  isEqual('lines of the log from a reply', target.linesWith('"audit":"after"'), 0);
});

const REFUSED_WITHIN_MS = 5500;
const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';

/** What the address of the keys may do; or what stands in between. */
const ISSUERS: Readonly<Record<string, (socket: Socket) => void>> = {
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

/** Tries to hang the gate, the memory or the drain by the address that the keys are fetched from. */
attack('hostile-issuer', async (stage) => {
  const operator = await stage.operator({});
  const token = `${encoded({ alg: 'RS256', kid: 'x' })}.${encoded({ sub: 'x' })}.AAAA`;
  for (const [name, answer] of Object.entries(ISSUERS)) {
    const { origin } = await stage.impostor((socket) => {
      socket.once('data', () => answer(socket));
    });
    const target = await stage.serve(operator, {
      JWT_JWKS_URL: `${origin}/jwks`,
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
    isEqual(`${name}: statuses`, [401, 503], expect.arrayContaining([...statuses]));
    isAtMost(`${name}: ms`, slowestMs, REFUSED_WITHIN_MS);
    isAtMost(`${name}: MB kept`, await target.grownMb(before), 16);
  }
});

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}

/** An outage is some lines a minute, not one a command or a connection. */
const MAX_LINES = 40;

const REDISES: Readonly<Record<string, (socket: Socket) => void>> = {
  'no Redis': (socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'),
  silence: () => undefined,
  'connections that are closed at once': (socket) => void socket.destroy(),
  'the end of a reply that never comes': (socket) => {
    socket.on('data', () => socket.write('$900000000\r\n'));
    pour(socket, 'x'.repeat(16_384), 1);
  },
  'lists in lists': (socket) => {
    socket.on('data', () => socket.write('*1\r\n'.repeat(20_000)));
  },
  'errors for everything': (socket) => {
    socket.on('data', () => socket.write('-ERR about +447700900123\r\n'));
  },
};

/** The default: the flow in which Redis is called at every lookup. */
const FLOWS: Readonly<Record<string, readonly string[]>> = {
  silence: ['2-legged', '3-legged'],
  'errors for everything': ['2-legged', '3-legged'],
};

/** Tries to end or hang the service by what answers in place of Redis. */
attack('hostile-redis', async (stage) => {
  const issuer = await stage.issuer();
  const token = await issuer.token({ scope: 'sim-swap:read' });
  for (const [name, answer] of Object.entries(REDISES)) {
    const { host } = await stage.impostor(answer);
    const shared = {
      ...issuer.settings,
      AUDIT_KEY,
      REDIS_URL: `redis://${host}`,
      STATE_KEY: freshStateKey(),
    };
    const operator = await stage.operator({});
    for (const flow of FLOWS[name] ?? ['2-legged']) {
      const target = await stage.serve(operator, { ...shared, OPERATOR_FLOW: flow });
      const before = await target.figures();
      const reply = await target.ask(within(number(1)), { token });
      const right = flow === '2-legged' ? false : expect.any(String);
      isEqual(`${name}, ${flow}`, answerIn(reply), right);
      isAtMost(`${name}, ${flow}: ms`, reply.tookMs, MAX_MS);
      await sleep(1500);
      isAtMost(`${name}, ${flow}: MB kept`, await target.grownMb(before), 48);
      isAtMost(`${name}, ${flow}: lines`, target.output.split('\n').length, MAX_LINES);
    }
    isEqual(`${name}: prompts`, operator.count('prompts'), 0);
  }
});
