import { pathToFileURL } from 'node:url';
import type { Refusal, RefusedRun } from './refusals.ts';

// A program of its own, for refusals.ts: a file, and its runs as JSON. It prints how each of them ended.

class Ended extends Error {}

const [, self = '', file = '', json = ''] = process.argv;
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as refusals.ts writes it
const runs = JSON.parse(json) as readonly RefusedRun[];
const write = process.stdout.write.bind(process.stdout);
const exit = process.exit.bind(process);
const refusals: Refusal[] = [];
for (const [index, { words, settings }] of runs.entries()) {
  const program = pathToFileURL(file).href;
  refusals.push(await refusalOf(`${program}?run=${index}`, words, settings));
}
write(JSON.stringify(refusals), () => exit(0));

/** Rejects where the program does not end itself. */
async function refusalOf(
  program: string,
  words: readonly string[],
  settings: RefusedRun['settings'],
): Promise<Refusal> {
  process.argv = [process.execPath, self, ...words];
  Object.assign(process.env, settings);
  let refusal: Refusal | undefined;
  let [out, err] = ['', ''];
  process.stdout.write = (text) => ((out += String(text)), true);
  process.stderr.write = (text) => ((err += String(text)), true);
  process.exit = (code) => {
    // What catches this one may end it again, as no process could.
    refusal ??= { code: Number(code), out, err };
    throw new Ended();
  };
  await import(program).catch((error: unknown) => {
    if (!(error instanceof Ended)) throw error;
  });
  if (refusal === undefined) throw new Error(`${program} goes on with ${words.join(' ')}.`);
  return refusal;
}
