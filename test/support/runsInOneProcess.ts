import { pathToFileURL } from 'node:url';
import type { Ending, RunOf } from './runs.ts';

// A program of its own, for runs.ts: a file, and its runs as JSON. It prints how each of them ended.

class Ended extends Error {}

const [, self = '', file = '', json = ''] = process.argv;
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as runs.ts writes it
const runs = JSON.parse(json) as readonly RunOf[];
const write = process.stdout.write.bind(process.stdout);
const exit = process.exit.bind(process);
// Each run listens to it.
process.stdout.setMaxListeners(0);
const endings: Ending[] = [];
for (const [index, { program = file, words, settings }] of runs.entries()) {
  const url = `${pathToFileURL(program).href}?run=${index}`;
  endings.push(await endingOf(url, words, settings));
}
write(JSON.stringify(endings), () => exit(0));

/** Takes what is written, at once. */
function taking(take: (text: string) => void) {
  return (text: unknown, encoding?: unknown, written = encoding): boolean => {
    take(String(text));
    if (typeof written === 'function') Reflect.apply(written, undefined, []);
    return true;
  };
}

async function endingOf(
  url: string,
  words: readonly string[],
  settings: RunOf['settings'],
): Promise<Ending> {
  process.argv = [process.execPath, self, ...words];
  Object.assign(process.env, settings);
  let code: number | undefined;
  let [out, err] = ['', ''];
  process.stdout.write = taking((text) => void (out += text));
  process.stderr.write = taking((text) => void (err += text));
  process.exit = (given) => {
    // What catches this one may end it again, as no process could.
    code ??= Number(given);
    throw new Ended();
  };
  await import(url).catch((error: unknown) => {
    if (!(error instanceof Ended)) throw error;
  });
  return { code: code ?? 0, out, err };
}
