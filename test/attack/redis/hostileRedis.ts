import { createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { freshStateKey } from '../../redisServer.ts';
import type { Attack } from '../attack.ts';
import { AUDIT_KEY } from '../stage.ts';
import { answerIn, number, within } from '../values.ts';
import { listen } from '../../listening.ts';

const MAX_MS = 4500;
/** An outage is some lines a minute, not one a command or a connection. */
const MAX_LINES = 40;

const MANNERS: Readonly<Record<string, (socket: Socket) => void>> = {
  'no Redis': (socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'),
  silence: () => undefined,
  'connections that are closed at once': (socket) => void socket.destroy(),
  'the end of a reply that never comes': (socket) => {
    socket.on('data', () => socket.write('$900000000\r\n'));
    const timer = setInterval(() => socket.write('x'.repeat(16_384)), 1);
    socket.once('close', () => clearInterval(timer));
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

export const hostileRedis: Attack = {
  name: 'hostile-redis',
  tries: 'to end or hang the service by what answers in place of Redis',
  holds: 'it serves, answers in time in both flows, logs little, and ends on SIGTERM',
  async run(stage) {
    const issuer = await stage.issuer();
    const token = await issuer.token({ scope: 'sim-swap:read' });
    for (const [name, answer] of Object.entries(MANNERS)) {
      const server = createServer((socket) => {
        socket.on('error', () => undefined);
        answer(socket);
      });
      const { host } = new URL(await listen(server));
      stage.onEnd(async () => server.close());
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
        const answerHeard = answerIn(reply);
        const isRight =
          flow === '2-legged' ? answerHeard === false : typeof answerHeard === 'string';
        stage.holds(`${name}, ${flow}`, isRight, answerHeard);
        stage.atMost(`${name}, ${flow}: ms`, reply.tookMs, MAX_MS);
        await sleep(1500);
        stage.atMost(`${name}, ${flow}: MB kept`, await target.grownMb(before), 48);
        stage.atMost(`${name}, ${flow}: lines`, target.output.split('\n').length, MAX_LINES);
      }
      stage.equals(`${name}: prompts`, operator.count('prompts'), 0);
    }
  },
};
