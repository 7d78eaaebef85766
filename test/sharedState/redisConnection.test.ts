import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { listen } from '../support/listening.ts';
import { Program } from '../support/program.ts';

test('a connection that is being made does not keep a process alive once it is closed', async () => {
  // It accepts connections, and never shakes hands.
  const server = createServer();
  const { port } = new URL(await listen(server));
  const run = Program.node([
    '--input-type=module',
    '--eval',
    `import { createRedis } from './src/sharedState/redisClient.ts';
     import { systemClock } from './src/system/clock.ts';
     const server = { host: '127.0.0.1', port: ${port} };
     const topology = { kind: 'single', server, database: 0 };
     const settings = { topology, credentials: undefined, tls: {} };
     const log = { info() {}, warn() {}, error() {} };
     const connection = createRedis(settings, systemClock, log);
     await connection.open();
     connection.close();
     console.log(JSON.stringify(process.getActiveResourcesInfo().filter((one) => /TCP|TLS/.test(one))));
     process.exit();`,
  ]);
  try {
    expect({ ...(await run.ended), err: run.err }).toEqual({ code: 0, signal: null, err: '' });
    expect(JSON.parse(run.out)).toEqual([]);
  } finally {
    server.close();
  }
});
