import { readConfig } from '../../src/config/config.ts';
import { ConfigError, type Environment } from '../../src/config/environment.ts';

/** What a start says against these settings; nothing where it takes them. */
export function problemsOf(environment: Environment): readonly string[] {
  try {
    readConfig(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

/** The names of the settings that a start complains of, each once, in the order of the alphabet. */
export function namesIn(environment: Environment): readonly string[] {
  const names = problemsOf(environment).map((problem) => problem.split(' ', 1).join(''));
  return [...new Set(names)].toSorted();
}
