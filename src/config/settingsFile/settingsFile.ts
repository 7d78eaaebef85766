import { dirname, resolve } from 'node:path';
import {
  sentence,
  valueAt,
  type FileProblem,
  type JsonDocument,
} from '../operatorsFile/document.ts';
import { nearestName } from '../settingNames.ts';
import { FILE_SETTINGS, fileValue } from './fileSettings.ts';

/** What SETTINGS_FILE has beside `settings`: all that OPERATORS_FILE may have. */
const OPERATORS_MEMBERS = ['directory', 'operators'];
const MEMBERS = ['$schema', 'settings', ...OPERATORS_MEMBERS];

/** What SETTINGS_FILE holds. */
export interface SettingsFile {
  readonly document: JsonDocument;
  /** Settings as variables would have them, by the names of the variables; paths of files are absolute. */
  readonly values: ReadonlyMap<string, string>;
  /** Whether it names operators, as OPERATORS_FILE does. */
  readonly hasOperators: boolean;
  /** What is wrong with the file itself: each a sentence without its subject, the variable that names the file. */
  readonly problems: readonly string[];
}

/**
 * Reads the document that SETTINGS_FILE names. Which values a setting takes is for the reader of settings to say, as it
 * says it of variables. Pure.
 *
 * @param path of the file: the paths in it are taken from its folder
 */
export function readSettingsFile(document: JsonDocument, path: string): SettingsFile {
  const { values, problems } = readMembers(document.value, dirname(resolve(path)));
  return {
    document,
    values,
    hasOperators: OPERATORS_MEMBERS.some((name) => valueAt(document.value, [name]) !== undefined),
    problems: problems
      .toSorted((a, b) => document.lineOf(a.path) - document.lineOf(b.path))
      .map((problem) => sentence(problem, document)),
  };
}

/** The part of SETTINGS_FILE that OPERATORS_FILE could have. Pure. */
export function operatorsPart(value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).filter(([name]) => OPERATORS_MEMBERS.includes(name)),
  );
}

/** How a message calls a setting of the file. Pure. */
export function settingInFile(file: SettingsFile, name: string): string {
  return sentence({ path: ['settings', name], what: '' }, file.document).trimEnd();
}

interface Members {
  readonly values: ReadonlyMap<string, string>;
  readonly problems: readonly FileProblem[];
}

function readMembers(root: unknown, folder: string): Members {
  if (!isObject(root)) return { values: new Map(), problems: [{ path: [], what: NO_OBJECT }] };
  const problems: FileProblem[] = Object.keys(root)
    .filter((name) => !MEMBERS.includes(name))
    .map((name) => ({ path: [name], what: unknownMember(name) }));
  const { settings = {} } = root;
  if (!isObject(settings)) {
    return { values: new Map(), problems: [...problems, { path: ['settings'], what: NO_OBJECT }] };
  }
  const values = new Map<string, string>();
  for (const [name, value] of Object.entries(settings)) {
    const read = fileValue(name, value, folder);
    switch (read.kind) {
      case 'value':
        values.set(name, read.text);
        break;
      case 'problem':
        problems.push({ path: ['settings', name], what: read.what });
        break;
    }
  }
  return { values, problems };
}

const NO_OBJECT = 'must be an object, in { }';

function unknownMember(name: string): string {
  if (FILE_SETTINGS.has(name)) return 'must stand in "settings"';
  const meant = nearestName(name, MEMBERS);
  return `is not a known member${meant === undefined ? '' : `. Did you mean ${meant.name}?`}`;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
