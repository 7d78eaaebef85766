import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGatewayRuntime } from '@graphql-hive/gateway';
import { gatewayConfig } from './gateway.config.ts';

const gateway = createGatewayRuntime(gatewayConfig);
const server = createServer((request, response) => void gateway(request, response));
server.listen(Number(process.env['PORT'] ?? 4000), '127.0.0.1');
await once(server, 'listening');
process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });

process.once('SIGTERM', () => {
  server.close(() => void gateway[Symbol.asyncDispose]());
  server.closeIdleConnections();
});
