import { once } from 'node:events';
import { createServer } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startSimulator, type Simulator } from '../../simulator/simulator.ts';
import { entryAt, startServiceOf } from '../support/operatorsFile.ts';
import { freePort } from '../support/freePort.ts';
import { NO_REDIS } from '../support/redisServer.ts';
import { useStores } from './stores.ts';

/** The lines …000 to …009, 2-legged. */
function alphaOf({ authUrl, simSwapUrl }: Simulator): object {
  return entryAt(authUrl, { prefixes: ['+44770090000'], simSwapUrl });
}

/** The line …002 of those, 3-legged; its owner consents at once. */
function betaOf(simulator: Simulator): object {
  return { ...alphaOf(simulator), name: 'beta', prefixes: ['+447700900002'], flow: '3-legged' };
}

const SWAPPED = '+447700900001';
const NEVER_SWAPPED = '+447700900004';
const CONSENTS = '+447700900002';

const ASK = `query ($e164s: [ID!]!) { phoneNumbers(e164s: $e164s) { e164 simSwappedWithin } }`;

const settingsOf = useStores();

async function simulate(): Promise<Simulator> {
  const simulator = await startSimulator({ port: 0 });
  onTestFinished(() => simulator.close());
  return simulator;
}

describe('two operators', () => {
  it.skipIf(NO_REDIS !== undefined)(
    'share one Redis: of one that is gone, a fact that a SIM changed still answers, and no other fact',
    async () => {
      const kept = { KEEP_FACTS_SECONDS: '300', ...settingsOf('Redis') };
      const simulator = await simulate();
      const ask = async (operator: object): Promise<unknown> => {
        await using service = await startServiceOf([operator], kept);
        await service.ask(ASK, { e164s: [SWAPPED, NEVER_SWAPPED] });
        return (await service.ask(ASK, { e164s: [SWAPPED, NEVER_SWAPPED] })).data;
      };
      const phoneNumbers = [
        { e164: SWAPPED, simSwappedWithin: true },
        { e164: NEVER_SWAPPED, simSwappedWithin: false },
      ];

      expect(await ask(alphaOf(simulator))).toEqual({ phoneNumbers });
      expect(simulator.stats().lookups).toBe(2);
      expect(await ask({ ...alphaOf(simulator), name: 'aleph' })).toEqual({ phoneNumbers });
      expect(simulator.stats().lookups).toBe(3);
    },
  );
});

describe('an operator whose endpoints are discovered', () => {
  it('is unavailable until its document can be read; the other operators and /readyz are not affected', async () => {
    const one = await simulate();
    const other = await simulate();
    const port = await freePort();
    const issuer = `http://127.0.0.1:${port}`;
    const { authUrl: _authUrl, ...beta }: Record<string, unknown> = {
      ...betaOf(other),
      discovery: { issuer, hosts: [new URL(other.authUrl).host] },
    };
    await using service = await startServiceOf([alphaOf(one), beta], {
      CONSENT_WAIT_MS: '20000',
      REQUEST_TIMEOUT_MS: '30000',
    });

    const before = await service.ask(ASK, { e164s: [SWAPPED, CONSENTS] });
    expect(before.data).toMatchObject({ phoneNumbers: [{ simSwappedWithin: true }, {}] });
    expect(before.codes).toEqual(['OPERATOR_UNAVAILABLE']);
    expect(other.stats()).toMatchObject({ prompts: 0, lookups: 0 });
    expect((await service.send('/readyz')).status).toBe(200);
    expect(service.logged.join('\n')).toMatch(
      /error The discovery document cannot be used.*"operator":"beta".*ECONNREFUSED/,
    );

    const asked: (string | undefined)[] = [];
    const at = `${other.authUrl}/openIDConnectCIBA/v1`;
    const endpoints = {
      token_endpoint: `${at}/token`,
      backchannel_authentication_endpoint: `${at}/bc-authorize`,
    };
    const publisher = createServer((request, response) => {
      asked.push(request.url);
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ issuer, ...endpoints }));
    });
    publisher.listen(port, '127.0.0.1');
    await once(publisher, 'listening');
    onTestFinished(() => {
      publisher.close();
      publisher.closeAllConnections();
    });
    let after = before;
    while (after.codes.length > 0) after = await service.ask(ASK, { e164s: [CONSENTS] });
    expect(after.data).toMatchObject({ phoneNumbers: [{ simSwappedWithin: true }] });
    expect(other.stats()).toMatchObject({ prompts: 1, lookups: 1 });
    expect(new Set(asked)).toEqual(new Set(['/.well-known/openid-configuration']));
  });
});
