import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { DEMO_CLIENT, startSimulator, type Simulator } from '../../src/simulator/simulator.ts';
import { CONSENTS, DOCUMENTS, type Asked } from './documents.ts';
import { Program } from '../program.ts';
import { ask, FOR_NPM, type Body } from './ask.ts';

/** What stands in the place of each moment: two servers ask at different ones. */
const MOMENT = /\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)/g;

const SERVERS = ['apolloServer', 'yoga', 'mercurius'] as const;

interface Serving {
  readonly program: Program;
  readonly simulator: Simulator;
  readonly url: string;
}

/** A server, and an operator that nobody else asks. */
async function serve(
  [command = '', ...words]: readonly string[],
  folder: string,
  settings: Readonly<Record<string, string>>,
): Promise<Serving> {
  const simulator = await startSimulator({ port: 0 });
  const given = {
    ...FOR_NPM,
    PORT: '0',
    OPERATOR_AUTH_URL: simulator.authUrl,
    OPERATOR_SIM_SWAP_URL: simulator.simSwapUrl,
    OPERATOR_CLIENT_ID: DEMO_CLIENT.clientId,
    OPERATOR_CLIENT_SECRET: DEMO_CLIENT.clientSecret,
    CONSENT_WAIT_MS: '0',
    ...settings,
  };
  const program = new Program(command, words, given, { folder });
  const [, url, port] = await program.written(/ at (http:\S+)|"port":(\d+)/);
  return { program, simulator, url: url ?? `http://127.0.0.1:${port}/graphql` };
}

/** What a client makes of a reply. */
function heard({ data, errors }: Body, isInOwnWords = false): unknown {
  const told = errors.map(({ message, path = [], extensions }) => ({
    message: isInOwnWords ? '' : message,
    // Mercurius writes the places of a list as texts.
    path: path.map(String),
    extensions,
  }));
  return JSON.parse(JSON.stringify({ data, errors: told }).replaceAll(MOMENT, 'a moment'));
}

describe.each<[string, Readonly<Record<string, string>>, readonly Asked[]]>([
  ['2-legged', {}, DOCUMENTS],
  ['3-legged', { OPERATOR_FLOW: '3-legged' }, CONSENTS],
])('the %s flow', (_flow, settings, documents) => {
  let service: Serving;
  let mounted: readonly Serving[];

  beforeAll(async () => {
    service = await serve(['npx', '--yes', inject('npxName')], inject('empty'), settings);
    mounted = await Promise.all(
      SERVERS.map((name) => serve(['node', `${name}.ts`], inject('mounted'), settings)),
    );
  });
  afterAll(async () => {
    for (const { program, simulator } of [service, ...mounted]) {
      await program[Symbol.asyncDispose]();
      await simulator.close();
    }
  });

  test.each(documents)(
    '$what: each server answers as the service does',
    async ({ isInOwnWords, what: _what, ...operation }) => {
      const own = heard(await ask(service.url, operation), isInOwnWords);
      for (const [index, { url }] of mounted.entries()) {
        const theirs = heard(await ask(url, operation), isInOwnWords);
        expect({ server: SERVERS[index], heard: theirs }).toEqual({
          server: SERVERS[index],
          heard: own,
        });
      }
    },
  );

  test('each has asked its operator as often', () => {
    const costs = [service, ...mounted].map(({ simulator }) => {
      const { tokens, lookups, refusedLookups, prompts } = simulator.stats();
      return JSON.stringify({ tokens, lookups, refusedLookups, prompts });
    });
    expect(costs).toEqual(costs.map(() => costs[0]));
  });

  test('each ends on SIGTERM, and takes no further requests', async () => {
    for (const { program, url } of [service, ...mounted]) {
      program.signal('SIGTERM');
      await program.ended;
      await expect(fetch(url)).rejects.toThrow('fetch failed');
    }
  });
});
