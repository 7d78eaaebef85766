import { registerHooks } from 'node:module';
import { GUARDS_IN_CODE } from './guards.ts';

// Loaded by `node --import` into the service, which then runs without the guard that its address names.
const guard = new URL(import.meta.url).search.slice(1);
const found = Object.entries(GUARDS_IN_CODE).find(([name]) => name === guard);
if (found === undefined) throw new Error(`${guard} is not a guard.`);
const [, { file, changes }] = found;

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.endsWith(file)) return loaded;
    // oxlint-disable-next-line typescript/no-base-to-string -- a text, or the bytes of one
    let source = String(loaded.source);
    for (const [text, changed] of changes) {
      if (source.split(text).length !== 2) throw new Error(`${file} does not hold ${text} once.`);
      source = source.replace(text, () => changed);
    }
    return { ...loaded, source };
  },
});
