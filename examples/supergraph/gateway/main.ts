import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGatewayRuntime } from '@graphql-hive/gateway-runtime';
import { gatewayConfig } from './gateway.config.ts';

const port = Number(process.env['PORT'] ?? 4000);
const gateway = createGatewayRuntime(gatewayConfig);
const server = createServer((request, response) => {
  if (request.url === '/') response.writeHead(302, { location: '/graphql' }).end();
  else void gateway(request, response);
});
server.listen(port, '127.0.0.1');
try {
  await once(server, 'listening');
} catch {
  process.stderr.write(`The gateway cannot listen on port ${port}. Choose another with PORT.\n`);
  process.exit(1);
}
process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });

process.once('SIGTERM', () => {
  server.close(() => void gateway[Symbol.asyncDispose]());
  server.closeIdleConnections();
});
