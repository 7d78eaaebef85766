import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { DEMO_CLIENT, startSimulator, type Simulator } from '../../simulator/simulator.ts';
import { heldClock } from '../support/heldClock.ts';
import { listen } from '../support/listening.ts';
import { Program, type Run } from '../support/program.ts';
import { withoutCorrelators } from '../support/service.ts';
import { ask, FOR_NPM, type Body } from './ask.ts';
import { BEYOND_LIMITS, CONSENTS, DOCUMENTS, type Asked } from './documents.ts';

/** Each moment, and each wait of seconds until the next poll: two servers answer at different ones. */
const MOMENT =
  /\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)|(?<="retryAfterSeconds":)(?:1?\d|60[01])(?=\D)/g;

const SERVERS = ['apolloServer', 'yoga', 'nest', 'mercurius'] as const;

/** The flag of the service. Fastify compiles schemas, and so does not start with it. */
const NO_CODE_FROM_STRINGS = '--disallow-code-generation-from-strings';
const flagsOf = (server: (typeof SERVERS)[number]): readonly string[] =>
  server === 'mercurius' ? [] : [NO_CODE_FROM_STRINGS];

interface Serving {
  readonly program: Program;
  readonly simulator: Simulator;
  readonly url: string;
}

/** A server with an operator of its own, whose owners of numbers take longer than any patience. */
async function serve(
  [command = '', ...words]: readonly string[],
  folder: string,
  settings: Readonly<Record<string, string>>,
): Promise<Serving> {
  const simulator = await startSimulator({ port: 0, nowMs: heldClock(0) });
  const given = {
    ...FOR_NPM,
    PORT: '0',
    OPERATOR_AUTH_URL: simulator.authUrl,
    OPERATOR_SIM_SWAP_URL: simulator.simSwapUrl,
    OPERATOR_CLIENT_ID: DEMO_CLIENT.clientId,
    OPERATOR_CLIENT_SECRET: DEMO_CLIENT.clientSecret,
    // A refusal arrives within it on a busy machine too.
    CONSENT_WAIT_MS: '5000',
    ...settings,
  };
  const program = new Program(command, words, given, { folder });
  const [, url, port] = await program.written(/ at (http:\S+)|"port":(\d+)/);
  return { program, simulator, url: url ?? `http://127.0.0.1:${port}/graphql` };
}

function heard({ data, errors }: Body, isInOwnWords = false): unknown {
  const told = errors.map(({ message, path = [], extensions }) => ({
    message: isInOwnWords ? '' : message,
    // Mercurius writes the places of a list as texts.
    path: path.map(String),
    extensions,
  }));
  const text = JSON.stringify({ data, errors: told }, withoutCorrelators);
  return JSON.parse(text.replaceAll(MOMENT, (moment) => (moment.length < 4 ? '1' : 'a moment')));
}

function canary(url: string): Promise<Run> {
  return Program.run('node', ['canary.ts', url], {}, { folder: inject('mounted') });
}

function byServer(one: readonly unknown[]): unknown {
  return Object.fromEntries(SERVERS.map((server, index) => [server, one[index]]));
}

describe.each<[string, Readonly<Record<string, string>>, readonly Asked[], readonly Asked[]]>([
  ['2-legged', {}, DOCUMENTS, BEYOND_LIMITS],
  ['3-legged', { OPERATOR_FLOW: '3-legged' }, CONSENTS, []],
])('the %s flow', (_flow, settings, documents, beyondLimits) => {
  let service: Serving;
  let mounted: readonly Serving[];

  beforeAll(async () => {
    service = await serve(['npx', '--yes', inject('npxName')], inject('empty'), settings);
    mounted = await Promise.all(
      SERVERS.map((name) =>
        serve(['node', ...flagsOf(name), `${name}.ts`], inject('mounted'), settings),
      ),
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
      const [own, ...theirs] = await Promise.all(
        [service, ...mounted].map(async ({ url }) =>
          heard(await ask(url, operation), isInOwnWords),
        ),
      );
      expect(byServer(theirs)).toEqual(byServer(SERVERS.map(() => own)));
    },
  );

  test('each has called its operator as often', () => {
    const costs = [service, ...mounted].map(({ simulator }) => {
      const { tokens, lookups, refusedLookups, prompts } = simulator.stats();
      return JSON.stringify({ tokens, lookups, refusedLookups, prompts });
    });
    expect(costs).toEqual(costs.map(() => costs[0]));
  });

  test.each(beyondLimits)(
    '$what: refused in part, and as a whole by the service',
    async ({ what: _what, ...operation }) => {
      const codes = await Promise.all(
        mounted.map(async ({ url }) =>
          (await ask(url, operation)).errors.map(({ extensions }) => extensions?.['code']),
        ),
      );
      const refused = expect.arrayContaining(['LOOKUP_LIMIT_EXCEEDED']) as unknown;
      expect(byServer(codes)).toEqual(byServer(SERVERS.map(() => refused)));
      expect((await ask(service.url, operation)).errors).toMatchObject([
        { extensions: { code: 'LOOKUP_LIMIT_EXCEEDED' } },
      ]);
    },
  );

  test('the canary: neither a reply nor the output of a server quotes a number', async () => {
    for (const [index, { program, url }] of mounted.entries()) {
      const { code, err } = await canary(url);
      const server = SERVERS[index];
      expect({ server, code, err }).toEqual({ server, code: 0, err: '' });
      expect(program.out + program.err).not.toMatch(/7700.{0,3}900/);
    }
  });

  test('each ends on SIGTERM, and accepts no further requests', async () => {
    for (const { program, url } of [service, ...mounted]) {
      program.signal('SIGTERM');
      await program.ended;
      await expect(fetch(url)).rejects.toThrow('fetch failed');
    }
  });
});

test('Mercurius does not start where code from strings is off: Fastify compiles schemas', async () => {
  const words = [NO_CODE_FROM_STRINGS, 'mercurius.ts'];
  const simulator = { SIMULATOR: 'http://127.0.0.1:9' };
  const { code, err } = await Program.run('node', words, simulator, { folder: inject('mounted') });
  expect(code).not.toBe(0);
  expect(err).toContain('Code generation from strings disallowed');
});

test('the canary fails where errors are not masked', async () => {
  const echo = createServer((request, response) => void request.pipe(response));
  const url = await listen(echo);
  const { code, err } = await canary(url);
  expect(code).toBe(1);
  expect(err).toContain('The number is in the reply to');
  echo.close();
});
