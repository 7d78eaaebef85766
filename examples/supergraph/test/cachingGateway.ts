import { gatewayConfig } from '../gateway/gateway.config.ts';

class MapCache {
  readonly #entries = new Map<string, unknown>();

  get(key: string): Promise<unknown> {
    return Promise.resolve(this.#entries.get(key));
  }

  set(key: string, value: unknown): Promise<void> {
    this.#entries.set(key, value);
    return Promise.resolve();
  }

  delete(key: string): Promise<boolean> {
    return Promise.resolve(this.#entries.delete(key));
  }

  getKeysByPrefix(prefix: string): Promise<string[]> {
    return Promise.resolve([...this.#entries.keys()].filter((key) => key.startsWith(prefix)));
  }
}

// The gateway of the example with a response cache, which keeps no answer about a number.
Object.assign(gatewayConfig, {
  cache: new MapCache(),
  responseCaching: { ignoredTypes: ['PhoneNumber'] },
});
await import('../gateway/main.ts');
