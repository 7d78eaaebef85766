import { readFileSync } from 'node:fs';

/** The version of the package, and the commit of its build or checkout. */
export const BUILD = {
  version: /"version": "([^"]+)"/.exec(read('../../package.json') ?? '')?.[1] ?? 'unknown',
  commit: read('../../commit') || checkedOut() || 'unknown',
} as const;

/** The commit of a checkout, where its branch is not packed. */
function checkedOut(): string | undefined {
  const head = read('../../.git/HEAD');
  const [, branch] = /^ref: (\S+)$/.exec(head ?? '') ?? [];
  return branch === undefined ? head : read(`../../.git/${branch}`);
}

function read(name: string): string | undefined {
  try {
    return readFileSync(new URL(name, import.meta.url), 'utf8').trim();
  } catch {
    return undefined;
  }
}
