import { readFileSync } from 'node:fs';
import { addressProblem, withoutLastSlash } from '../http/address.ts';
import { findTypos } from './settingNames.ts';

/** The environment's variables; an empty one counts as absent. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Variables whose values are secrets, or may hold one. */
const SECRET_NAMES = /SECRET|KEY|TOKEN|PASSWORD|HEADERS|REDIS_URL/;

/** Of a secret that we choose ourselves: as many characters as 24 random bytes make in base64. */
export const MIN_SECRET_CHARACTERS = 32;

/** A value that may be quoted is short, and does not look like a secret that stands in the wrong place. */
const MAX_QUOTED_CHARACTERS = 60;
const LOOKS_RANDOM = /^(?=.*\d)(?=.*[A-Za-z])[\w+/=-]{20,}$/;

/** The settings are not fit to start with. The message lists everything that is wrong, by name. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(
      `The settings have ${problems.length} problem(s):\n${problems.map((one) => `  ${one}`).join('\n')}`,
    );
    this.problems = problems;
  }
}

/**
 * Reads variables one by one and collects what is wrong with them, so that all of it is told at once.
 * A reader of a bad variable returns its fallback: the value is never used. A message quotes what was read
 * where that is no secret.
 */
export class EnvironmentReader {
  readonly #environment: Environment;
  readonly #problems: string[] = [];
  readonly #names = new Set<string>();

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /** Of every variable that was read. */
  get names(): ReadonlySet<string> {
    return this.#names;
  }

  text(name: string): string | undefined;
  text(name: string, fallback: string): string;
  text(name: string, fallback?: string): string | undefined {
    this.#names.add(name);
    const value = this.#environment[name];
    return value === undefined || value === '' ? fallback : value;
  }

  required(name: string, why: string): string {
    const value = this.text(name);
    if (value === undefined) this.problem(name, `is missing: ${why}`);
    return value ?? '';
  }

  oneOf<T extends string>(name: string, allowed: readonly [T, ...T[]]): T {
    const value = this.text(name, allowed[0]);
    const found = allowed.find((one) => one === value);
    if (found === undefined) this.unfit(name, `must be one of ${allowed.join(', ')}`);
    return found ?? allowed[0];
  }

  boolean(name: string, fallback: boolean): boolean {
    const value = this.text(name, String(fallback));
    if (value !== 'true' && value !== 'false') this.unfit(name, 'must be true or false');
    return value === 'true';
  }

  /** A whole number in decimal digits. */
  integer(name: string, fallback: number, { min, max }: { min: number; max: number }): number {
    const text = this.text(name, String(fallback));
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    this.unfit(name, `must be a whole number from ${min} to ${max}`);
    return fallback;
  }

  /**
   * An https address without credentials, query and fragment; a slash at its end is dropped. On loopback
   * it may be http, since the traffic does not leave the machine.
   */
  url(name: string): string | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const problem = addressProblem(text);
    if (problem === undefined) return withoutLastSlash(text);
    if (problem.isQuotable) this.unfit(name, problem.what);
    else this.problem(name, problem.what);
    return undefined;
  }

  /** Texts with commas between; none of them is empty. */
  list(name: string, fallback = ''): readonly string[] {
    return this.text(name, fallback)
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== '');
  }

  /** What the variable holds, or the file that `<name>_FILE` names, without the line break at its end. */
  secret(name: string): string | undefined {
    const fileName = `${name}_FILE`;
    const value = this.text(name);
    if (this.text(fileName) === undefined) return value;
    if (value !== undefined) this.problem(fileName, `is set as well as ${name}: set one of them`);
    const text = this.file(fileName, '')?.replace(/\r?\n$/, '');
    if (text === '') this.problem(fileName, 'names a file that is empty');
    return text;
  }

  requiredSecret(name: string, why: string): string {
    const value = this.secret(name);
    if (value === undefined && this.text(`${name}_FILE`) === undefined) {
      this.problem(name, `is missing: ${why}, here or in the file that ${name}_FILE names`);
    }
    return value ?? '';
  }

  /** The text of the file that the variable names. */
  file(name: string, why: string): string | undefined {
    const path = this.required(name, why);
    if (path === '') return undefined;
    try {
      return readFileSync(path, 'utf8');
    } catch {
      this.problem(name, 'names a file that cannot be read');
      return undefined;
    }
  }

  /** Finds variables that look like a setting but are not. Call it when every setting has been read. */
  findTypos(): void {
    for (const { name, meant } of findTypos(Object.keys(this.#environment), this.#names)) {
      const hint = meant === undefined ? '' : `. Did you mean ${meant}?`;
      this.problem(name, `is not a known setting${hint}`);
    }
  }

  /** A problem with a value that is not what it should be; the message repeats the value. */
  unfit(name: string, what: string): void {
    const value = this.#environment[name] ?? '';
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

  #isQuotable(value: string): boolean {
    if (value === '' || value.length > MAX_QUOTED_CHARACTERS) return false;
    // User and password, or a key in a query.
    if (/[@?]/.test(value) || LOOKS_RANDOM.test(value)) return false;
    return Object.entries(this.#environment).every(
      ([name, other]) => other !== value || !SECRET_NAMES.test(name),
    );
  }
}
