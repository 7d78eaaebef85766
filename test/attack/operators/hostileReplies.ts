import type { ServerResponse } from 'node:http';
import type { Received } from '../../http/recordingServer.ts';
import type { Attack } from '../attack.ts';
import { answerIn, number, within } from '../values.ts';

const OPERATOR_TIMEOUT_MS = 1500;

type Answer = (received: Received, response: ServerResponse) => void;

const head = ({ correlator }: Received): Record<string, string> => ({
  'content-type': 'application/json',
  'x-correlator': correlator,
});

function pour(response: ServerResponse, piece: string, everyMs: number): void {
  const timer = setInterval(() => response.write(piece), everyMs);
  response.once('close', () => clearInterval(timer));
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

export const hostileReplies: Attack = {
  name: 'hostile-replies',
  tries: 'to hang the service or fill its memory by what an operator sends',
  holds: 'no answer, an end in time, no memory, no descriptor, no line of the log from it',
  async run(stage) {
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
      stage.holds(name, mayAnswer || typeof answer === 'string', answer);
      if (reply.tookMs > 4500) stage.atMost(`${name}, ms`, reply.tookMs, 4500);
    }
    stage.atMost('MB kept', await target.grownMb(before), 16);
    stage.atMost('descriptors more', (await target.fileDescriptors()) - descriptorsBefore, 12);
    stage.equals('lines of the log from a reply', target.linesWith('"audit":"after"'), 0);
  },
};
