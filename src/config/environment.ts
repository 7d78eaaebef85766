import type { FromFiles, Reread } from '../system/fromFiles.ts';
import type * as z from 'zod';
import { readFaultOf, readTextIfThere } from '../system/textFile.ts';
import type { FileTexts } from '../system/watchedFiles.ts';
import { findTypos } from './settingNames.ts';
import {
  ALL_SETTINGS,
  SETTINGS,
  VARIABLE_NAMES,
  type NamesOf,
  type SettingName,
  type ValueOf,
  type VariableName,
} from './settings.ts';

/** The environment's variables; an empty one counts as absent. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Variables whose values are secrets or may contain one; not all are settings. */
const SECRET_NAMES = /SECRET|KEY|TOKEN|PASSWORD|HEADERS/;

/** A value may be quoted if it is short and does not look like a misplaced secret. */
const MAX_QUOTED_CHARACTERS = 60;
const LOOKS_RANDOM = /^(?=.*\d)(?=.*[A-Za-z])[\w+/=-]{20,}$/;

/** Its message lists all problems of the settings by name. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    const count = problems.length === 1 ? '1 setting needs' : `${problems.length} settings need`;
    super([`${count} attention:`, ...problems].join('\n  '));
    this.problems = problems;
  }
}

/**
 * Reads settings by the table and collects their problems, which are reported together. For a bad setting the default
 * is returned, which is never used. A message quotes the value unless it is a secret.
 */
export class EnvironmentReader {
  readonly #environment: Environment;
  readonly #readText: (path: string) => string | undefined;
  readonly #texts = new Map<string, string | undefined>();
  /** Those that a value is being made from. */
  #textsOfMade: Map<string, string | undefined> | undefined;
  readonly #problems: string[] = [];
  readonly #named = new Set<string>();

  constructor(environment: Environment, readText = readTextIfThere) {
    this.#environment = environment;
    this.#readText = readText;
  }

  /**
   * A value made from settings, and how to make it again when its files change. The other settings stay as they are.
   *
   * @param make returns `undefined` or reports a problem where the files cannot be used
   * @param makeAgain the same, where it may take turns of the event loop
   */
  made<T>(
    make: (read: EnvironmentReader) => T,
    makeAgain: (read: EnvironmentReader) => T | Promise<T> = make,
  ): {
    readonly value: T;
    readonly fromFiles: FromFiles<NonNullable<T>> | undefined;
  } {
    const texts = new Map<string, string | undefined>();
    this.#textsOfMade = texts;
    const value = make(this);
    this.#textsOfMade = undefined;
    if (texts.size === 0) return { value, fromFiles: undefined };
    const read = async (now: FileTexts): Promise<Reread<NonNullable<T>>> => {
      const again = new EnvironmentReader(this.#environment, (path) =>
        (now.has(path) ? now : texts).get(path),
      );
      const renewed = await makeAgain(again);
      return renewed === undefined || renewed === null || again.#problems.length > 0
        ? { kind: 'flawed', flaw: again.#problems.join(' ') }
        : { kind: 'read', value: renewed };
    };
    return { value, fromFiles: { texts, read } };
  }

  isSet(name: VariableName): boolean {
    return this.#valueOf(name) !== undefined;
  }

  /** The value of a setting; its default where it is not set, or bad, which is reported. */
  value<Name extends SettingName>(name: Name): ValueOf<Name> {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- of all schemas it is the one of the name
    return this.parsed(name, SETTINGS[name].schema as z.ZodType<ValueOf<Name>>);
  }

  /** The value of any variable, by a schema that has a value for `undefined`. */
  parsed<Value>(name: string, schema: z.ZodType<Value>): Value {
    const { data, error } = schema.safeParse(this.namedVariable(name));
    if (error === undefined) return data;
    this.unfit(name, error.issues[0]?.message ?? '');
    return schema.parse(undefined);
  }

  /** The value of the variable, or the text of the file in `<name>_FILE` without the line break at its end. */
  secret(name: NamesOf<'secret'>): string | undefined {
    const fileName = `${name}_FILE` as const;
    const value = this.#valueOf(name);
    const path = this.#valueOf(fileName);
    if (path === undefined) return value;
    if (value !== undefined) this.problem(fileName, `is set as well as ${name}: set one of them`);
    const text = this.#readFile(fileName, path)?.replace(/\r?\n$/, '');
    if (text?.trim() === '') this.problem(fileName, 'names a file that is empty');
    // Not the text of the file, whose faults would be reported of the variable.
    return value ?? text;
  }

  requireSecret(name: NamesOf<'secret'>, why: string): void {
    if (this.isSet(name) || this.isSet(`${name}_FILE`)) return;
    this.problem(name, `is missing: ${why}. Set ${name} or ${name}_FILE`);
  }

  /** The text of the file that the setting names; `undefined` where it is not set or cannot be read. */
  file(name: NamesOf<'file'>): string | undefined {
    const path = this.#valueOf(name);
    return path === undefined ? undefined : this.#readFile(name, path);
  }

  /** A variable that is not a setting, but that a setting names. */
  namedVariable(name: string): string | undefined {
    this.#named.add(name);
    return this.#valueOf(name);
  }

  /** Finds variables that resemble settings. To be called after every setting was read. */
  findUnknown(): void {
    const hasRedis = this.isSet('REDIS_URL') || this.isSet('REDIS_URL_FILE');
    const names = Object.keys(this.#environment).filter((name) => !this.#named.has(name));
    for (const { name, hint } of findTypos(names, VARIABLE_NAMES, hasRedis)) {
      this.problem(name, `is not a known setting${hint}`);
    }
  }

  /** A problem with a value; the message repeats the value. */
  unfit(name: string, what: string): void {
    const value = this.#valueOf(name) ?? '';
    this.problem(name, this.#isQuotable(value) ? `${what}, not ${JSON.stringify(value)}` : what);
  }

  problem(name: string, what: string): void {
    const problem = `${name} ${what}${what.endsWith('?') ? '' : '.'}`;
    if (!this.#problems.includes(problem)) this.#problems.push(problem);
  }

  /** @throws {ConfigError} when there was any problem */
  finish(): void {
    if (this.#problems.length > 0) throw new ConfigError(this.#problems);
  }

  #valueOf(name: string): string | undefined {
    return this.#environment[name] || undefined;
  }

  /** The text of a file at its first reading; `undefined` where it cannot be read. */
  textOf(path: string): string | undefined {
    if (!this.#texts.has(path)) this.#texts.set(path, this.#readText(path));
    const text = this.#texts.get(path);
    this.#textsOfMade?.set(path, text);
    return text;
  }

  #readFile(name: VariableName, path: string): string | undefined {
    const text = this.textOf(path);
    if (text === undefined) {
      const fault = readFaultOf(path);
      const why = fault === undefined ? '' : ` (${fault})`;
      this.problem(name, `names a file that cannot be read${why}`);
    }
    return text;
  }

  #isQuotable(value: string): boolean {
    if (value === '' || value.length > MAX_QUOTED_CHARACTERS) return false;
    // User and password, or a key in a query.
    if (/[@?#]/.test(value) || LOOKS_RANDOM.test(value)) return false;
    return Object.entries(this.#environment).every(
      ([name, other]) =>
        other !== value || !(SECRET_NAMES.test(name) || ALL_SETTINGS.get(name)?.kind === 'secret'),
    );
  }
}
