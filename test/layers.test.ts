import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** What runs or is installed; names below src/ are without `src/`. */
const FOLDERS = ['src', 'mocks', 'onboarding', 'profiles', 'simulator'];

/** Requests and imports go down this list. Names in one row are peers. */
const LAYERS = [
  ['main.ts', 'requireNode.js', 'endWithParent.js', 'mocks'],
  ['library', 'commands'],
  ['app'],
  ['telemetry', 'onboarding'],
  ['config'],
  ['graphql'],
  ['caller', 'simSwaps'],
  ['caller/audit', 'consents'],
  ['caller/quotas', 'lookups'],
  ['profiles'],
  ['operator'],
  ['tokens'],
  ['resilience'],
  ['judging'],
  ['wire', 'sharedState'],
  ['log', 'simulator'],
  ['domain', 'system'],
];

const ROOMS = new Set(LAYERS.flat());

/** `simSwaps/` and what it puts together. */
const CORE = new Set([
  'simSwaps',
  'consents',
  'lookups',
  'operator',
  'tokens',
  'resilience',
  'judging',
  'wire',
  'sharedState',
  'log',
  'domain',
  'system',
]);

/** They decide and return data: they reach no package, socket, file or timer. */
const PURE = [
  /^domain\//,
  /^lookups\/planner\.ts$/,
  /^operator\/(?:responses|numberDirectory)\.ts$/,
  /^tokens\/tokenResponses\.ts$/,
  /^consents\/(?:consentRecord|consentView)\.ts$/,
  /^resilience\/retries\.ts$/,
  /^onboarding\/(?:judge\w+|clientReply|connectionAdvice|connectionTrace|table)\.ts$/,
];

interface Import {
  /** As the rows above name it, or the name of a package. */
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
      target: isLocal ? nameOf(join(dirname(pathOf(file)), from)) : from,
      isLocal,
      isType: groups?.['type'] !== undefined,
    };
  });
}

const TEXTS = new Map(
  FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.[jt]s$/.test(entry.name))
      .map((entry) => {
        const path = join(entry.parentPath, entry.name);
        // Without the lines of docstrings, whose examples import.
        const text = readFileSync(path, 'utf8').replaceAll(/^ +\*.*$/gm, '');
        return [nameOf(relative(ROOT, path)), text] as const;
      }),
  ),
);
const IMPORTS = new Map([...TEXTS].map(([file, text]) => [file, importsOf(text, file)]));

describe('the reader of imports', () => {
  it('finds every import', () => {
    const overlooked = [...TEXTS].filter(([file, text]) => {
      const statements = text.match(/\b(?:from|import) '[^' ]+';/g) ?? [];
      return statements.length !== IMPORTS.get(file)?.length;
    });
    expect(overlooked.map(([file]) => file)).toEqual([]);
  });

  it('finds imports at run time only in files that load an optional package', () => {
    expect(filesThat(/\bimport\(|\brequire\(/).toSorted()).toEqual([
      'app/observation.ts',
      'app/stores.ts',
      'graphql/explorer.ts',
      'main.ts',
    ]);
  });
});

describe('imports', () => {
  it('every file has a layer', () => {
    expect([...TEXTS.keys()].filter((file) => layerOf(file) < 0)).toEqual([]);
    expect(
      LAYERS.flat().filter((name) => [...TEXTS.keys()].every((file) => roomOf(file) !== name)),
    ).toEqual([]);
  });

  it('lead to existing files', () => {
    expect(edges().filter(({ target }) => !TEXTS.has(target))).toEqual([]);
  });

  it('lead only down', () => {
    const upward = edges().filter(({ file, target }) => layerOf(target) < layerOf(file));
    expect(upward).toEqual([]);
  });

  it('form no circle, with those of types', () => {
    const open = new Map([...IMPORTS].map(([file]) => [file, new Set<string>()]));
    for (const { file, target } of edges()) open.get(file)?.add(target);
    // A file whose imports are all removed is removed: what is left imports itself.
    for (let before = Infinity; open.size < before;) {
      before = open.size;
      for (const [file, targets] of open) {
        if ([...targets].every((target) => !open.has(target))) open.delete(file);
      }
    }
    expect([...open.keys()]).toEqual([]);
  });

  it('of the simulator lead only to the domain: it is a program by itself', () => {
    const own = [...IMPORTS].filter(([file]) => roomOf(file) === 'simulator');
    const targets = own.flatMap(([, imports]) =>
      imports.map(({ target, isLocal }) => (isLocal ? roomOf(target) : target)),
    );
    const allowed = /^(?:simulator|domain|system|node:[a-z_/]+|jose)$/;
    expect(new Set(targets)).toContain('domain');
    expect(targets.filter((target) => !allowed.test(target))).toEqual([]);
  });

  it('of the simulator are made only by what starts it', () => {
    const users = edges().filter(
      ({ file, target }) => roomOf(target) === 'simulator' && roomOf(file) !== 'simulator',
    );
    expect(new Set(users.map(({ file }) => file))).toEqual(
      new Set(['app/service.ts', 'app/firstQuery.ts', 'library/openEmbedded.ts']),
    );
  });
});

describe('the core', () => {
  const core = [...reachedFrom('simSwaps/simSwaps.ts')];

  it('has no part of the graph, the callers or the settings', () => {
    expect(core.filter((file) => !CORE.has(roomOf(file)))).toEqual([]);
  });

  it('imports no GraphQL server, Redis client, HTTP server or log, and reads files only in system/', () => {
    const allowed =
      /^(?:dataloader|undici|jose|lru-cache|node:(?:crypto|util|diagnostics_channel|net|stream|tls|http2))$/;
    const rooms = core.filter((file) => roomOf(file) !== 'system');
    expect(packagesOf(rooms).filter((name) => !allowed.test(name))).toEqual([]);
    const reading = /^node:(?:fs(?:\/promises)?|stream\/consumers)$/;
    const system = packagesOf(core.filter((file) => roomOf(file) === 'system'));
    expect(system.filter((name) => !allowed.test(name) && !reading.test(name))).toEqual([]);
  });
});

describe('the mocks', () => {
  it('run in a browser', () => {
    expect(new Set(packagesOf([...reachedFrom('mocks/mocks.ts')]))).toEqual(new Set(['graphql']));
  });
});

describe('what decides', () => {
  const pure = [...TEXTS.keys()].filter((file) => PURE.some((pattern) => pattern.test(file)));

  it('matches each pattern of this test', () => {
    expect(PURE.filter((pattern) => !pure.some((file) => pattern.test(file)))).toEqual([]);
  });

  it.each(pure)('%s reaches no package or part of Node', (file) => {
    const outside = [...reachedFrom(file)].flatMap((one) =>
      (IMPORTS.get(one) ?? [])
        .filter(({ isLocal, isType }) => !isLocal && !isType)
        .map(({ target }) => `${one}: ${target}`),
    );
    expect(outside).toEqual([]);
  });

  it.each(pure)('%s uses no clock, random number or network', (file) => {
    const ambient =
      /\b(?:Date\.now|new Date\(\)|Math\.random|performance\.|process\.|fetch\(|setTimeout|setInterval|setImmediate)/;
    expect(TEXTS.get(file)).not.toMatch(ambient);
  });
});

describe('the packages of OpenTelemetry', () => {
  it('are imported only in telemetry/, by files that are loaded when tracing is on', () => {
    const files = filesThat(/'@opentelemetry\//);
    expect(new Set(files.map(roomOf))).toEqual(new Set(['telemetry']));
    const loaded = [...reachedFrom('app/service.ts')].filter((file) => files.includes(file));
    expect(loaded).toEqual([]);
  });
});

describe('the environment', () => {
  it('is read only in config.ts', () => {
    expect(filesThat(/process\.env|\benv\b.*from 'node:process'/)).toEqual(['config/config.ts']);
  });
});

function edges(): { file: string; target: string }[] {
  return [...IMPORTS].flatMap(([file, imports]) =>
    imports.filter(({ isLocal }) => isLocal).map(({ target }) => ({ file, target })),
  );
}

/** The file and all that is loaded with it. */
function reachedFrom(file: string): Set<string> {
  const reached = new Set([file]);
  for (const one of reached) {
    for (const { target, isLocal, isType } of IMPORTS.get(one) ?? []) {
      if (isLocal && !isType) reached.add(target);
    }
  }
  return reached;
}

/** The packages and parts of Node that files import, with those of types. */
function packagesOf(files: readonly string[]): string[] {
  return files.flatMap((file) =>
    (IMPORTS.get(file) ?? []).filter(({ isLocal }) => !isLocal).map(({ target }) => target),
  );
}

function filesThat(pattern: RegExp): string[] {
  return [...TEXTS].filter(([, text]) => pattern.test(text)).map(([file]) => file);
}

/** The deepest folder of LAYERS that holds the file, or the file itself. */
function roomOf(file: string): string {
  const [top = file, next] = file.split('/');
  return ROOMS.has(`${top}/${next}`) ? `${top}/${next}` : top;
}

function layerOf(file: string): number {
  return LAYERS.findIndex((names) => names.includes(roomOf(file)));
}

function nameOf(path: string): string {
  return path
    .split(sep)
    .join('/')
    .replace(/^src\//, '');
}

/** Below the root of the repository. */
function pathOf(file: string): string {
  return FOLDERS.some((folder) => file.startsWith(`${folder}/`)) ? file : `src/${file}`;
}
