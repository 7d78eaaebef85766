import { setTimeout as sleep } from 'node:timers/promises';
import type { Attack } from '../attack.ts';
import { answerIn, number, within } from '../values.ts';

const CONNECTIONS = 400;
/** The time for headers, and what a loaded machine takes. */
const CUT_WITHIN_MS = 20_000;

const BEGINNINGS = [
  '',
  'POST /graphql HTTP/1.1\r\nhost: 127.0.0.1\r\nx-slow: ',
  'GET /graphql?query=',
  'POST /graphql HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n1\r\n',
];

export const slowSenders: Attack = {
  name: 'slow-senders',
  tries: `to hold ${CONNECTIONS} connections by requests that never end`,
  holds: 'others are answered meanwhile, and those whose headers do not come are cut',
  async run(stage) {
    const target = await stage.serve(await stage.operator({}));
    await target.ask(within(number(4)));
    const before = await target.fileDescriptors();
    const sockets = target.stalled(
      CONNECTIONS,
      (index) => BEGINNINGS[index % BEGINNINGS.length] ?? '',
    );
    for (const socket of sockets) socket.resume();
    await sleep(500);
    const reply = await target.ask(within(number(5)));
    stage.equals('answered meanwhile', answerIn(reply), false);
    stage.atMost('ms for it', reply.tookMs, 2000);
    // A quarter of them have sent their headers: their bodies have a longer time.
    const stay = CONNECTIONS / BEGINNINGS.length + 8;
    const open = await target.fileDescriptorsAtMost(before + stay, CUT_WITHIN_MS);
    stage.atMost('connections that stay', open - before, stay);
    for (const socket of sockets) socket.destroy();
  },
};
