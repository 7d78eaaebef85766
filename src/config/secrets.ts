import { dirname, resolve } from 'node:path';
import type { TextSource } from '../http/connections/connectionSettings.ts';
import { readTextNow } from '../system/textFile.ts';
import type { EnvironmentReader } from './environment.ts';
import type { SecretEntry } from './definition.ts';
import type { FileProblem, Path } from './document.ts';

export class Secrets {
  readonly #file: string;
  readonly #environment: EnvironmentReader;
  readonly #readText: (path: string) => string;
  /** What was read, by the paths of files; `undefined` where that failed. */
  readonly #texts = new Map<string, string | undefined>();

  /**
   * @param file names of files are taken from its folder
   * @param readText reads a file, or throws
   */
  constructor(file: string, environment: EnvironmentReader, readText = readTextNow) {
    this.#file = file;
    this.#environment = environment;
    this.#readText = readText;
  }

  /** The same secrets, as another reader has their files. */
  readingFrom(readText: (path: string) => string): Secrets {
    return new Secrets(this.#file, this.#environment, readText);
  }

  /** The secret without the line break at its end; empty where it cannot be read, which is a problem. */
  read(entry: SecretEntry): string {
    return entry.kind === 'file'
      ? (this.textOf(entry)?.replace(/\r?\n$/, '') ?? '')
      : (this.#environment.namedVariable(entry.name) ?? '');
  }

  /** Where it is, for those who read it again when it changes. */
  source(entry: SecretEntry): TextSource {
    return entry.kind === 'file'
      ? { kind: 'file', path: this.pathOf(entry) }
      : { kind: 'text', text: this.read(entry) };
  }

  /** What is wrong with the secrets that a value points to, whose members may be anything. */
  *problems(value: unknown, path: Path = []): Generator<FileProblem> {
    if (typeof value !== 'object' || value === null) return;
    const entry = secretEntry(value);
    if (entry !== undefined) {
      const what = this.#problemWith(entry, path);
      if (what !== undefined) yield { path: [...path, entry.kind], what };
      return;
    }
    for (const [name, member] of Object.entries(value)) {
      yield* this.problems(member, [...path, Array.isArray(value) ? Number(name) : name]);
    }
  }

  #problemWith(entry: SecretEntry, path: Path): string | undefined {
    const text = this.read(entry);
    if (text === '') return MISSING[entry.kind];
    // Where a header holds it, a line break in it would begin another header.
    const fits = path.includes('headers') ? /^[\t\x20-\x7e]*$/ : /^[^\r\n]*$/;
    return HAS_LINES.has(path.at(-1)) || fits.test(text)
      ? undefined
      : 'leads to more than one line, or to what no header carries';
  }

  /** What a value leads to; empty where it leads to no secret, which is told elsewhere. */
  at(value: unknown): string {
    if (typeof value !== 'object' || value === null) return '';
    const entry = secretEntry(value);
    return entry === undefined ? '' : this.read(entry);
  }

  pathOf({ name }: SecretEntry): string {
    return resolve(dirname(resolve(this.#file)), name);
  }

  /** What a file held when it was first read here: whoever looks at it sees the same. */
  textOf(file: SecretEntry): string | undefined {
    const path = this.pathOf(file);
    if (!this.#texts.has(path)) {
      try {
        this.#texts.set(path, this.#readText(path));
      } catch {
        this.#texts.set(path, undefined);
      }
    }
    return this.#texts.get(path);
  }
}

/** Members that lead to PEM. */
const HAS_LINES = new Set<string | number | undefined>(['key', 'certificate', 'ca']);

const MISSING: Readonly<Record<SecretEntry['kind'], string>> = {
  file: 'names a file that cannot be read, or is empty',
  variable: 'names a variable that is not set',
};

function secretEntry(value: object): SecretEntry | undefined {
  const [[kind, name] = [], ...others] = Object.entries(value);
  if (typeof name !== 'string' || others.length > 0) return undefined;
  return kind === 'file' || kind === 'variable' ? { kind, name } : undefined;
}
