import { readFileSync } from 'node:fs';

/** One thing that a judge found. */
export interface Finding {
  /** What was judged, such as a scenario or a rule by its name. */
  readonly about: string;
  /** Why it failed, without anything that differs from run to run; absent where it passed. */
  readonly failure?: string | undefined;
}

/** A judge whose texts or programs are not on this machine: what to do so that it judges. */
export interface NotHere {
  readonly notHere: string;
}

/** Text, program or package that this project did not write, and what it makes of the project: one row of the page. */
export interface Judge {
  /** Who judges, and of what where that is not obvious: the row's name, unique. */
  readonly name: string;
  /** Of who judges. */
  readonly version: string;
  /** `short` runs in CI with each commit, all of those within two minutes; `long` on request. */
  readonly form: 'short' | 'long';
  /** Every finding each time, in one order. One that throws, or takes longer than MAX_JUDGE_MS, fails as a whole. */
  readonly judge: () => Promise<readonly Finding[] | NotHere>;
}

/** Passed if it is so. */
export function finding(about: string, passed: boolean, failure: string): Finding {
  return { about, failure: passed ? undefined : failure };
}

/** Of packages of this folder, or else of the project: each with its version. */
export function versionsOf(names: readonly string[]): string {
  return names.map((name) => `${name} ${versionOf(name)}`).join(', ');
}

function versionOf(name: string): string {
  for (const folder of ['node_modules', '../node_modules']) {
    try {
      const file = new URL(`${folder}/${name}/package.json`, import.meta.url);
      return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
    } catch {
      continue;
    }
  }
  throw new Error(`${name} is not installed: run npm ci here and in compatibility/.`);
}
