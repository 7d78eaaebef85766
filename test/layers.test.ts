import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const SRC = fileURLToPath(new URL('../src', import.meta.url));

/** A request walks down this list, and so do the imports. Names in one row are peers. */
const LAYERS = [
  ['main.ts'],
  [
    'service.ts',
    'devToken.ts',
    'auditSearch.ts',
    'usageReport.ts',
    'operatorsCommand.ts',
    'requireNode24.js',
    'endWithParent.js',
  ],
  ['subgraph.ts', 'mocks.ts'],
  ['client.ts'],
  ['banner.ts', 'systemClock.ts', 'auditArguments.ts'],
  ['openingDocument.ts', 'exchangeLines.ts'],
  ['onboarding'],
  ['server.ts', 'embedded'],
  ['watchedFiles.ts', 'readiness.ts', 'callers.ts', 'stores.ts', 'observation.ts'],
  ['metricsServer.ts', 'openTracing.ts', 'requestLines.ts'],
  ['metrics', 'simulatedOperator.ts'],
  ['config.ts', 'config'],
  ['tracing'],
  ['graphql'],
  ['context.ts'],
  ['recordedSimSwaps.ts'],
  ['requestRecord.ts'],
  ['simSwaps.ts'],
  ['caller'],
  ['loaders'],
  ['lookups'],
  ['operator'],
  ['tokens'],
  ['http', 'sharedState'],
  ['log.ts', 'logAbout.ts', 'repeats.ts', 'diagnostics.ts', 'fromFiles.ts'],
  ['standardOutput.ts', 'prettyLine.ts'],
  ['simulator'],
  ['domain'],
  [
    'build.ts',
    'errors.ts',
    'clock.ts',
    'fileWatch.ts',
    'hangup.ts',
    'supportedNode.ts',
    'termination.ts',
    'textFile.ts',
  ],
];

/** What answers from operators: what `simSwaps.ts` puts together, without the program around it. */
const CORE = new Set([
  'simSwaps.ts',
  'fromFiles.ts',
  'loaders',
  'logAbout.ts',
  'lookups',
  'operator',
  'tokens',
  'http',
  'sharedState',
  'diagnostics.ts',
  'domain',
  'errors.ts',
  'clock.ts',
  'fileWatch.ts',
]);

/** Decide and return data: no package, no socket, no file and no timer within their reach. */
const PURE = [
  /^domain\//,
  /^errors\.ts$/,
  /^lookups\/planner\.ts$/,
  /^operator\/(?:responses|directoryReply)\.ts$/,
  /^tokens\/tokenResponses\.ts$/,
  /^tokens\/consents\/(?:consentRecord|consentStatus|standing)\.ts$/,
  /^http\/resilience\/retryDecision\.ts$/,
  /^onboarding\/(?:judge\w+|clientReply|connectionAdvice|connectionTrace|table)\.ts$/,
];

interface Import {
  /** A path below src/, or the name of a package. */
  readonly target: string;
  readonly isLocal: boolean;
  readonly isType: boolean;
}

const STATEMENT =
  /^(?:import|export)\s+(?:(?<type>type)\s)?(?:[^;'"]*?\sfrom\s+)?'(?<from>[^']+)'/gm;

function importsOf(text: string, file: string): Import[] {
  return Array.from(text.matchAll(STATEMENT), ({ groups }) => {
    const from = groups?.['from'] ?? '';
    const isLocal = from.startsWith('.');
    return {
      target: isLocal ? posix(join(dirname(file), from)) : from,
      isLocal,
      isType: groups?.['type'] !== undefined,
    };
  });
}

const TEXTS = new Map(
  readdirSync(SRC, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.[jt]s$/.test(entry.name))
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      // Without the lines of docstrings, whose examples import.
      const text = readFileSync(path, 'utf8').replaceAll(/^ +\*.*$/gm, '');
      return [posix(relative(SRC, path)), text] as const;
    }),
);
const IMPORTS = new Map([...TEXTS].map(([file, text]) => [file, importsOf(text, file)]));

describe('the reader of imports', () => {
  it.each([
    ["import { a } from './a.ts';", 'graphql/a.ts', false],
    ["import type { A } from '../a.ts';", 'a.ts', true],
    ["import { a, type B } from '../http/a.ts';", 'http/a.ts', false],
    ["import {\n  a,\n  b,\n} from '../http/a.ts';", 'http/a.ts', false],
    ["import * as a from 'undici';", 'undici', false],
    ["import 'node:fs';", 'node:fs', false],
    ["export { a } from './a.ts';", 'graphql/a.ts', false],
    ["export * from './a.ts';", 'graphql/a.ts', false],
    ["export type { A } from './a.ts';", 'graphql/a.ts', true],
  ])('understands %j', (text, target, isType) => {
    expect(importsOf(`// first\n${text}\n`, 'graphql/b.ts')).toMatchObject([{ target, isType }]);
  });

  it('overlooks none', () => {
    const overlooked = [...TEXTS].filter(([file, text]) => {
      const statements = text.match(/\b(?:from|import) '[^' ]+';/g) ?? [];
      return statements.length !== IMPORTS.get(file)?.length;
    });
    expect(overlooked.map(([file]) => file)).toEqual([]);
  });

  it('has nothing to look for in imports at run time, but for packages that are left out where they are not used', () => {
    expect(filesThat(/\bimport\(|\brequire\(/)).toEqual([
      'main.ts',
      'openTracing.ts',
      'stores.ts',
      'graphql/explorer.ts',
    ]);
  });
});

describe('imports', () => {
  it('every file has a layer', () => {
    expect([...TEXTS.keys()].filter((file) => layerOf(file) < 0)).toEqual([]);
    expect(
      LAYERS.flat().filter((name) => [...TEXTS.keys()].every((file) => topOf(file) !== name)),
    ).toEqual([]);
  });

  it('point at files that are there', () => {
    expect(edges().filter(({ target }) => !TEXTS.has(target))).toEqual([]);
  });

  it('point only down', () => {
    const upward = edges().filter(({ file, target }) => layerOf(target) < layerOf(file));
    expect(upward).toEqual([]);
  });

  it('of the simulator lead to the domain alone, for it is a program by itself', () => {
    const own = [...IMPORTS].filter(([file]) => topOf(file) === 'simulator');
    const targets = own.flatMap(([, imports]) =>
      imports.map(({ target, isLocal }) => (isLocal ? topOf(target) : target)),
    );
    const allowed = /^(?:simulator|domain|termination\.ts|node:[a-z_/]+|jose)$/;
    expect(new Set(targets)).toContain('domain');
    expect(targets.filter((target) => !allowed.test(target))).toEqual([]);
  });

  it('of the simulator are made only by what starts it', () => {
    const users = edges().filter(
      ({ file, target }) => topOf(target) === 'simulator' && topOf(file) !== 'simulator',
    );
    expect(new Set(users.map(({ file }) => file))).toEqual(
      new Set([
        'service.ts',
        'banner.ts',
        'openingDocument.ts',
        'simulatedOperator.ts',
        'embedded/openSimSwaps.ts',
      ]),
    );
  });
});

describe('the core', () => {
  const core = [...reachedFrom('simSwaps.ts')];

  it('has no part of the graph, of its callers or of the settings', () => {
    expect(core.filter((file) => !CORE.has(topOf(file)))).toEqual([]);
  });

  it('imports no GraphQL server, no Redis client, no HTTP server, no file and no log', () => {
    const allowed =
      /^(?:dataloader|undici|jose|node:(?:crypto|util|diagnostics_channel|net|stream|tls|http2))$/;
    expect(packagesOf(core).filter((name) => !allowed.test(name))).toEqual([]);
  });

  it('is told by this test from the program, which imports them all', () => {
    expect(packagesOf([...reachedFrom('server.ts')])).toEqual(
      expect.arrayContaining(['@apollo/server', '@prometheus-io/client', 'node:http']),
    );
  });
});

describe('the mocks', () => {
  it('run in a browser', () => {
    expect(new Set(packagesOf([...reachedFrom('mocks.ts')]))).toEqual(new Set(['graphql']));
  });
});

describe('what decides', () => {
  const pure = [...TEXTS.keys()].filter((file) => PURE.some((pattern) => pattern.test(file)));

  it('is where this test looks for it', () => {
    expect(PURE.filter((pattern) => !pure.some((file) => pattern.test(file)))).toEqual([]);
  });

  it.each(pure)('%s reaches no package and no part of Node', (file) => {
    const outside = [...reachedFrom(file)].flatMap((one) =>
      (IMPORTS.get(one) ?? [])
        .filter(({ isLocal, isType }) => !isLocal && !isType)
        .map(({ target }) => `${one}: ${target}`),
    );
    expect(outside).toEqual([]);
  });

  it.each(pure)('%s reads no clock, no chance and no network', (file) => {
    const ambient =
      /\b(?:Date\.now|new Date\(\)|Math\.random|performance\.|process\.|fetch\(|setTimeout|setInterval|setImmediate)/;
    expect(TEXTS.get(file)).not.toMatch(ambient);
  });
});

describe('the packages of OpenTelemetry', () => {
  it('are imported in tracing/ alone, whose files are loaded when it is on', () => {
    const files = filesThat(/'@opentelemetry\//);
    expect(new Set(files.map(topOf))).toEqual(new Set(['tracing']));
    const loaded = [...reachedFrom('service.ts')].filter((file) => files.includes(file));
    expect(loaded).toEqual([]);
  });
});

describe('the environment', () => {
  it('is read in config.ts alone', () => {
    expect(filesThat(/process\.env|\benv\b.*from 'node:process'/)).toEqual(['config.ts']);
  });
});

function edges(): { file: string; target: string }[] {
  return [...IMPORTS].flatMap(([file, imports]) =>
    imports.filter(({ isLocal }) => isLocal).map(({ target }) => ({ file, target })),
  );
}

/** The file and all that it brings with it when it is loaded. */
function reachedFrom(file: string): Set<string> {
  const reached = new Set([file]);
  for (const one of reached) {
    for (const { target, isLocal, isType } of IMPORTS.get(one) ?? []) {
      if (isLocal && !isType) reached.add(target);
    }
  }
  return reached;
}

/** The packages and parts of Node that files import, be it for types alone. */
function packagesOf(files: readonly string[]): string[] {
  return files.flatMap((file) =>
    (IMPORTS.get(file) ?? []).filter(({ isLocal }) => !isLocal).map(({ target }) => target),
  );
}

function filesThat(pattern: RegExp): string[] {
  return [...TEXTS].filter(([, text]) => pattern.test(text)).map(([file]) => file);
}

/** The folder of src/ that holds the file, or the file itself. */
function topOf(file: string): string {
  return file.split('/', 1)[0] ?? file;
}

function layerOf(file: string): number {
  return LAYERS.findIndex((names) => names.includes(topOf(file)));
}

function posix(path: string): string {
  return path.split(sep).join('/');
}
