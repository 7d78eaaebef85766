import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface RecordedRequest {
  readonly headers: IncomingHttpHeaders;
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

export interface RecordingProxy extends AsyncDisposable {
  readonly url: string;
  readonly requests: RecordedRequest[];
}

export async function startRecordingProxy(subgraphUrl: string): Promise<RecordingProxy> {
  const requests: RecordedRequest[] = [];
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    requests.push({ variables: {}, ...JSON.parse(body), headers: request.headers });
    const reply = await fetch(subgraphUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    response.writeHead(reply.status, { 'content-type': 'application/json' });
    response.end(await reply.text());
  };
  const server = createServer((request, response) => void pass(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`,
    requests,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
