import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Certificate } from '../tls/certificate.ts';

export interface SeenCommand {
  readonly words: readonly string[];
  readonly bytes: Buffer;
}

/** Whether a connection is cut once the server has done a command, and before its reply is seen. */
export type CutsAfter = (command: SeenCommand) => boolean;

/** A proxy before one Redis that does to commands and replies what networks do. */
export class RedisProxy {
  readonly #server: Server;
  readonly #clients = new Set<Socket>();
  readonly #silent = new WeakSet<Socket>();
  readonly #copies = new Set<NodeJS.Timeout>();
  /** Delivers copies of a script's commands. */
  #copier: Socket | undefined;
  /** Each script arrives again so long after it has arrived, in milliseconds. */
  copiesAfterMs: readonly number[] = [];
  cutsAfter: CutsAfter = () => false;
  /** Where further connections lead. */
  targetPort: number;
  /** Ports in replies, and what replaces them: as long. */
  readonly renames = new Map<string, string>();
  /** Clients use TLS on further connections while it has one. */
  certificate: Certificate | undefined;
  /** How long replies take on their way, in milliseconds. */
  delayMs = 0;
  cuts = 0;
  copies = 0;
  /** Seen on their way, copies not included. */
  scripts = 0;

  private constructor(targetPort: number) {
    this.targetPort = targetPort;
    this.#server = createServer((socket) => {
      const { certificate } = this;
      if (certificate === undefined) this.#join(socket);
      else this.#join(new TLSSocket(socket, { isServer: true, ...certificate }));
    });
  }

  static async before(targetPort: number, host = '127.0.0.1'): Promise<RedisProxy> {
    const proxy = new RedisProxy(targetPort);
    proxy.#server.listen(0, host);
    await once(proxy.#server, 'listening');
    return proxy;
  }

  /** One before each server of a cluster, whose replies name the proxies. */
  static async beforeAll(ports: readonly number[], host?: string): Promise<readonly RedisProxy[]> {
    const proxies = await Promise.all(ports.map((port) => RedisProxy.before(port, host)));
    for (const proxy of proxies) {
      for (const [n, port] of ports.entries()) {
        proxy.renames.set(String(port), String(proxies[n]?.port));
      }
    }
    return proxies;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Open connections drop what either side sends from now on; new ones do not. */
  silence(): void {
    for (const client of this.#clients) this.#silent.add(client);
  }

  cut(): void {
    for (const client of this.#clients) client.destroy();
  }

  async close(): Promise<void> {
    for (const timer of this.#copies) clearTimeout(timer);
    this.#copier?.destroy();
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #join(client: Socket): void {
    this.#clients.add(client);
    const server = connect(this.targetPort, '127.0.0.1');
    client.setNoDelay(true);
    server.setNoDelay(true);
    let isCut = false;
    const end = (): void => {
      this.#clients.delete(client);
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) socket.on('error', end).on('close', end);
    const commands = new CommandReader((command) => {
      if (isCut) return;
      server.write(command.bytes);
      if (!/^EVAL/i.test(command.words[0] ?? '')) return;
      this.scripts += 1;
      if (this.cutsAfter(command)) {
        isCut = true;
        this.cuts += 1;
      }
      for (const afterMs of this.copiesAfterMs) this.#copyLater(command, afterMs);
    });
    client.on('data', (chunk) => {
      if (!this.#silent.has(client)) commands.read(chunk);
    });
    server.on('data', (chunk) => {
      if (this.#silent.has(client)) return;
      // The command has had its effect when the server replies.
      if (isCut) end();
      else if (this.delayMs > 0) setTimeout(() => client.write(this.#renamed(chunk)), this.delayMs);
      else client.write(this.#renamed(chunk));
    });
  }

  #copyLater({ bytes }: SeenCommand, afterMs: number): void {
    const timer = setTimeout(() => {
      this.#copies.delete(timer);
      this.copies += 1;
      this.#copier ??= connect(this.targetPort, '127.0.0.1').on('error', () => {
        this.#copier = undefined;
      });
      this.#copier.resume().write(bytes);
    }, afterMs);
    this.#copies.add(timer);
  }

  #renamed(chunk: Buffer): Buffer {
    if (this.renames.size === 0) return chunk;
    let text = chunk.toString('latin1');
    for (const [from, to] of this.renames) text = text.replaceAll(`:${from}\r`, `:${to}\r`);
    return Buffer.from(text, 'latin1');
  }
}

/** Reads commands as clients send them: arrays of bulk strings (RESP, "Sending commands to a Redis server"). */
class CommandReader {
  #unread = Buffer.alloc(0);
  readonly #onCommand: (command: SeenCommand) => void;

  constructor(onCommand: (command: SeenCommand) => void) {
    this.#onCommand = onCommand;
  }

  read(chunk: Buffer): void {
    this.#unread = Buffer.concat([this.#unread, chunk]);
    for (let command = this.#next(); command !== undefined; command = this.#next()) {
      this.#unread = this.#unread.subarray(command.bytes.length);
      this.#onCommand(command);
    }
  }

  #next(): SeenCommand | undefined {
    let at = 0;
    const line = (): string | undefined => {
      const end = this.#unread.indexOf('\r\n', at);
      if (end < 0) return undefined;
      const text = this.#unread.toString('latin1', at, end);
      at = end + 2;
      return text;
    };
    const count = Number(line()?.slice(1) ?? Number.NaN);
    const words: string[] = [];
    if (Number.isNaN(count)) return undefined;
    for (let i = 0; i < count; i += 1) {
      const length = Number(line()?.slice(1) ?? Number.NaN);
      if (Number.isNaN(length) || this.#unread.length < at + length + 2) return undefined;
      words.push(this.#unread.toString('utf8', at, at + length));
      at += length + 2;
    }
    return { words, bytes: this.#unread.subarray(0, at) };
  }
}
