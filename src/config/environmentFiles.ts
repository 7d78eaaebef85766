import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { readTextNow } from '../textFile.ts';
import { ConfigError, type Environment } from './environment.ts';

/** Variables that may be others each time they are read. */
export interface VariablesSource {
  /** @throws {ConfigError} when a file that was there cannot be read any more */
  read(): Environment;
  /** Where some of them stand. */
  readonly files: readonly string[];
}

/** `--env-file=PATH` or `--env-file PATH`, and the same for `--env-file-if-exists`. */
const FLAG = /^--env-file(?:-if-exists)?(?:=(?<path>.+))?$/;

/**
 * The variables of a process. Node reads the files of `--env-file` once, at the start; here they are read each time. A
 * variable that the process was started with goes before the files, as it does for Node; one that has the same value in
 * a file counts as the file's.
 */
export function environmentOf(
  environment: Environment,
  nodeArguments: readonly string[],
): VariablesSource {
  const start = { ...environment };
  const files = environmentFiles(nodeArguments).filter((path) => textOf(path) !== undefined);
  const fromFiles = variablesIn(files);
  const own = Object.fromEntries(
    Object.entries(start).filter(([name, value]) => fromFiles[name] !== value),
  );
  return {
    files,
    read: () => ({ ...variablesIn(files), ...own }),
  };
}

function environmentFiles(nodeArguments: readonly string[]): readonly string[] {
  return nodeArguments.flatMap((one, index) => {
    const match = FLAG.exec(one);
    if (match === null) return [];
    const path = match.groups?.['path'] ?? nodeArguments[index + 1];
    return path === undefined ? [] : resolve(path);
  });
}

function variablesIn(files: readonly string[]): Environment {
  const missing = files.filter((path) => textOf(path) === undefined);
  if (missing.length > 0) throw new ConfigError(['The file of --env-file cannot be read.']);
  return Object.fromEntries(files.flatMap((path) => Object.entries(parseEnv(textOf(path) ?? ''))));
}

function textOf(path: string): string | undefined {
  try {
    return readTextNow(path);
  } catch {
    return undefined;
  }
}
