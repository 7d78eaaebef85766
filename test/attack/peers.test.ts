import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { AUDIENCE, ISSUER } from '../caller/testIssuer.ts';
import type { Answer, Received } from '../wire/recordingServer.ts';
import { freshStateKey } from '../support/redisServer.ts';
import { attack, AUDIT_KEY, isAtMost, isEqual } from './stage.ts';
import { number, within } from './values.ts';

/** The time of a request, and what a loaded machine adds. */
const MAX_MS = 9000;
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
  const operator = await stage.operator();
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
    // A deep reply is as good as any other: it has one member `swapped`.
    if (name !== 'deeply nested') isEqual(name, reply.answer, expect.any(String));
    isAtMost(`${name}, ms`, reply.tookMs, MAX_MS);
  }
  isAtMost('MB kept', await target.grownMb(before), 16);
  isAtMost('descriptors more', (await target.fileDescriptors()) - descriptorsBefore, 12);
  isEqual('lines of the log from a reply', /"audit":"after"/.test(target.output), false);
});

/** The time of a fetch, and what a loaded machine adds. */
const REFUSED_WITHIN_MS = 10_000;
const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';

/** What the address of the keys replies. Its limits: wire/publishedJson.test.ts. */
const ISSUERS: Readonly<Record<string, (socket: Socket) => void>> = {
  'a byte now and then': (socket) => {
    socket.write(`${HEAD}content-length: 100000\r\n\r\n{`);
    pour(socket, ' ', 200);
  },
  'a body without an end': (socket) => {
    socket.write(`${HEAD}transfer-encoding: chunked\r\n\r\n`);
    pour(socket, `4000\r\n${' '.repeat(0x4000)}\r\n`, 1);
  },
};

/** Tries to hang the gate, the memory or the drain by the address that the keys are fetched from. */
attack('hostile-issuer', async (stage) => {
  const operator = await stage.operator();
  const known = { JWT_ISSUER: ISSUER, JWT_AUDIENCE: AUDIENCE, AUDIT_KEY };
  // Another issuer's token, or an expired one, is refused without a fetch.
  const claims = { iss: ISSUER, aud: AUDIENCE, sub: 'x', exp: Math.floor(Date.now() / 1000) + 600 };
  const token = `${encoded({ alg: 'RS256', kid: 'x' })}.${encoded(claims)}.AAAA`;
  for (const [name, answer] of Object.entries(ISSUERS)) {
    const { origin } = await stage.impostor((socket) => {
      socket.once('data', () => answer(socket));
    });
    const target = await stage.serve(operator, { ...known, JWT_JWKS_URL: `${origin}/jwks` });
    const before = await target.figures();
    const asking = Array.from({ length: 10 }, () => target.ask('{ __typename }', token));
    for (const { status, tookMs } of await Promise.all(asking)) {
      isEqual(`${name}: status`, status, 503);
      isAtMost(`${name}: ms`, tookMs, REFUSED_WITHIN_MS);
    }
    isAtMost(`${name}: MB kept`, await target.grownMb(before), 16);
  }
});

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}

/** An outage is some lines a minute, not one a command or a connection. */
const MAX_LINES = 40;

/** What answers in place of Redis. Replies without an end: sharedState/faults.test.ts. */
const REDISES: readonly (readonly [
  flow: string,
  name: string,
  answer: (socket: Socket) => void,
])[] = [
  ['2-legged', 'not a Redis', (socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')],
  ...['2-legged', '3-legged'].flatMap((flow) => [
    [flow, 'silence', () => undefined] as const,
    [
      flow,
      'errors',
      (socket: Socket) => void socket.on('data', () => socket.write(ERROR)),
    ] as const,
  ]),
];
const ERROR = '-ERR about +447700900123\r\n';

/** Tries to end or hang the service by what answers in place of Redis. */
attack('hostile-redis', async (stage) => {
  const issuer = await stage.issuer();
  const token = await issuer.token({ scope: 'sim-swap:read' });
  const operator = await stage.operator();
  for (const [flow, name, answer] of REDISES) {
    const { host } = await stage.impostor(answer);
    const target = await stage.serve(operator, {
      ...issuer.settings,
      AUDIT_KEY,
      REDIS_URL: `redis://${host}`,
      STATE_KEY: freshStateKey(),
      OPERATOR_FLOW: flow,
    });
    const before = await target.figures();
    const reply = await target.ask(within(number(1)), token);
    const right = flow === '2-legged' ? false : expect.any(String);
    isEqual(`${name}, ${flow}`, reply.answer, right);
    isAtMost(`${name}, ${flow}: ms`, reply.tookMs, MAX_MS);
    await sleep(1500);
    isAtMost(`${name}, ${flow}: MB kept`, await target.grownMb(before), 48);
    isAtMost(`${name}, ${flow}: lines`, target.output.split('\n').length, MAX_LINES);
  }
  isEqual('prompts', operator.count('prompts'), 0);
});
