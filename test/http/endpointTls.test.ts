import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { TestEndpoint } from './testEndpoint.ts';

it('offers HTTP/1.1 alone: one HTTP/2 connection would carry many exchanges at a time', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await using endpoint = new TestEndpoint(`https://127.0.0.1:${port}/check`);
  const exchange = endpoint.post();

  const [socket] = (await once(server, 'connection')) as [Socket];
  const [clientHello] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  server.close();

  const offered = clientHello.toString('latin1');
  expect(offered).toContain('\x08http/1.1');
  expect(offered).not.toContain('\x02h2');
  expect(await exchange).toMatchObject({ fault: { cause: 'connection', sent: false } });
});
