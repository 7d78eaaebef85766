import type { FromFiles, Reread } from '../system/fromFiles.ts';
import { addressProblem, withoutLastSlash } from '../http/wireSettings.ts';
import { readTextIfThere } from '../system/textFile.ts';
import type { FileTexts } from '../system/watchedFiles.ts';
import { findTypos } from './settingNames.ts';
import {
  ALL_SETTINGS,
  SETTINGS,
  VARIABLE_NAMES,
  defaultOf,
  type NamesOf,
  type Setting,
  type SettingName,
  type ValuesOf,
  type VariableName,
  type Yields,
} from './settings.ts';

/** The environment's variables; an empty one counts as absent. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Variables whose values are secrets or may hold one; not all are settings. */
const SECRET_NAMES = /SECRET|KEY|TOKEN|PASSWORD|HEADERS/;

/** A value may be quoted if it is short and does not look like a misplaced secret. */
const MAX_QUOTED_CHARACTERS = 60;
const LOOKS_RANDOM = /^(?=.*\d)(?=.*[A-Za-z])[\w+/=-]{20,}$/;

/** The message lists all problems of the settings by name. */
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
 * Reads settings by the table and collects their problems, which are reported together. For a bad setting a reader returns
 * its default, which is never used. A message quotes the value unless it is a secret.
 */
export class EnvironmentReader {
  readonly #environment: Environment;
  readonly #readText: (path: string) => string | undefined;
  readonly #texts = new Map<string, string | undefined>();
  readonly #problems: string[];
  readonly #named: Set<string>;

  /** @param problems of another reader, which collects them */
  constructor(
    environment: Environment,
    readText: (path: string) => string | undefined = readTextIfThere,
    problems: string[] = [],
    named = new Set<string>(),
  ) {
    this.#environment = environment;
    this.#readText = readText;
    this.#problems = problems;
    this.#named = named;
  }

  /**
   * A value made of settings, and how to make it again when its files change. The other settings stay as they are.
   *
   * @param make returns `undefined` or reports a problem where the files cannot be used
   */
  made<T>(make: (read: EnvironmentReader) => T): {
    readonly value: T;
    readonly fromFiles: FromFiles<NonNullable<T>> | undefined;
  } {
    const environment = this.#environment;
    const first = new EnvironmentReader(
      environment,
      (path) => this.textOf(path),
      this.#problems,
      this.#named,
    );
    const value = make(first);
    const texts = first.#texts;
    if (texts.size === 0) return { value, fromFiles: undefined };
    const read = (now: FileTexts): Reread<NonNullable<T>> => {
      const again = new EnvironmentReader(environment, (path) =>
        (now.has(path) ? now : texts).get(path),
      );
      const renewed = make(again);
      return renewed === undefined || renewed === null || again.#problems.length > 0
        ? { kind: 'flawed', flaw: again.#problems.join(' ') }
        : { kind: 'read', value: renewed };
    };
    return { value, fromFiles: { texts, read } };
  }

  isSet(name: VariableName): boolean {
    return this.#valueOf(name) !== undefined;
  }

  text<Name extends NamesOf<'text' | 'file' | 'json'>>(name: Name): Yields<Name, string>;
  text(name: NamesOf<'text' | 'file' | 'json'>): string | undefined {
    const value = this.#valueOf(name) ?? defaultOf(SETTINGS[name]);
    if (value !== undefined) this.#fit(name, [value]);
    return value;
  }

  oneOf<Name extends NamesOf<'oneOf'>>(name: Name): ValuesOf<Name> {
    return this.namedOneOf<ValuesOf<Name>>(name, SETTINGS[name].values);
  }

  /** Of any variable; the first value is the default. */
  namedOneOf<Value extends string>(
    name: string,
    values: readonly [Value, ...(readonly Value[])],
  ): Value {
    const value = this.namedVariable(name) ?? values[0];
    const found = values.find((one) => one === value);
    if (found === undefined) this.unfit(name, `must be one of ${values.join(', ')}`);
    return found ?? values[0];
  }

  boolean(name: NamesOf<'boolean'>): boolean {
    const value = this.#valueOf(name) ?? String(SETTINGS[name].default);
    if (value !== 'true' && value !== 'false') this.unfit(name, 'must be true or false');
    return value === 'true';
  }

  integer<Name extends NamesOf<'integer'>>(name: Name): Yields<Name, number>;
  integer(name: NamesOf<'integer'>): number | undefined {
    const { min, max, default: fallback }: Extract<Setting, { kind: 'integer' }> = SETTINGS[name];
    const text = this.#valueOf(name);
    if (text === undefined) return fallback;
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    this.unfit(name, `must be a whole number from ${min} to ${max}`);
    return fallback;
  }

  /**
   * An https address without credentials, query and fragment; a slash at its end is dropped. On loopback
   * it may be http, since the traffic does not leave the machine.
   */
  url(name: NamesOf<'url'>): string | undefined {
    const text = this.#valueOf(name);
    if (text === undefined) return undefined;
    const problem = addressProblem(text);
    if (problem === undefined) return withoutLastSlash(text);
    if (problem.isQuotable) this.unfit(name, problem.what);
    else this.problem(name, problem.what);
    return undefined;
  }

  /** Texts with commas between; none of them is empty. */
  list(name: NamesOf<'list'>): readonly string[] {
    const value = this.#valueOf(name);
    if (value === undefined) return SETTINGS[name].default;
    const texts = value.split(',').flatMap((one) => one.trim() || []);
    this.#fit(name, texts);
    return texts;
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
    return text;
  }

  requireSecret(name: NamesOf<'secret'>, why: string): void {
    if (this.isSet(name) || this.isSet(`${name}_FILE`)) return;
    this.problem(name, `is missing: ${why}, here or in the file that ${name}_FILE names`);
  }

  /** The text of the file that the setting names; `undefined` where it is not set or cannot be read. */
  file(name: NamesOf<'file'>): string | undefined {
    const path = this.#valueOf(name);
    return path === undefined ? undefined : this.#readFile(name, path);
  }

  /** A variable that is not a setting, but is named by one. */
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

  /** @throws {ConfigError} when anything was wrong */
  finish(): void {
    if (this.#problems.length > 0) throw new ConfigError(this.#problems);
  }

  #valueOf(name: string): string | undefined {
    return this.#environment[name] || undefined;
  }

  /** The text of a file at its first reading; `undefined` where it cannot be read. */
  textOf(path: string): string | undefined {
    if (!this.#texts.has(path)) this.#texts.set(path, this.#readText(path));
    return this.#texts.get(path);
  }

  #readFile(name: VariableName, path: string): string | undefined {
    const text = this.textOf(path);
    if (text === undefined) this.problem(name, 'names a file that cannot be read');
    return text;
  }

  #fit(name: SettingName, texts: readonly string[]): void {
    const { fits, must = '' }: Setting = SETTINGS[name];
    if (fits !== undefined && !texts.every((one) => fits.test(one))) this.unfit(name, must);
  }

  #isQuotable(value: string): boolean {
    if (value === '' || value.length > MAX_QUOTED_CHARACTERS) return false;
    // User and password, or a key in a query.
    if (/[@?]/.test(value) || LOOKS_RANDOM.test(value)) return false;
    return Object.entries(this.#environment).every(
      ([name, other]) =>
        other !== value || !(SECRET_NAMES.test(name) || ALL_SETTINGS.get(name)?.kind === 'secret'),
    );
  }
}
