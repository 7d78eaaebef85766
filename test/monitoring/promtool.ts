import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';

const FOLDER = '/usr/bin';

export const PROMETHEUS = `${FOLDER}/prometheus`;
const PROMTOOL = `${FOLDER}/promtool`;

/** Why tests with Prometheus are left out, where they are. */
export const NO_PROMETHEUS = [PROMETHEUS, PROMTOOL].every((path) => existsSync(path))
  ? undefined
  : `Left out, for there is no ${PROMTOOL}; to have them: apt-get install -y prometheus`;

/** The output of promtool; rejects with it when the program ends with an error. */
export function promtool(...words: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(PROMTOOL, words, (error, out, problems) => {
      if (error === null) resolve(out);
      else reject(new Error(`${out}${problems}`));
    });
  });
}
