import { answer } from '../processes/conversation.ts';
import type { ServerAddress, ServerAddresses } from '../operator/wires.ts';
import { DistantServer } from './distance.ts';

// The network between the contestants and an operator that is far away, in a process of its own: neither's
// CPU time is told by it, and neither's event loop delays it.

let oneWayMs = 0;

answer({
  /** Puts a proxy in front of each server; resolves to the proxies' addresses. */
  open: async (servers: ServerAddresses) => {
    const distant = Object.entries(servers).map(async ([name, { protocol, port }]) => {
      const server = await DistantServer.open(port, () => oneWayMs);
      return [name, { protocol, port: server.port } satisfies ServerAddress];
    });
    return Object.fromEntries(await Promise.all(distant)) as ServerAddresses;
  },
  setDistance: (wantedMs: number) => {
    oneWayMs = wantedMs;
  },
});
