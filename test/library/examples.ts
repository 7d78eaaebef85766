import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** An example of a docstring: what it is about, the program, and what its comments say that it prints. */
export interface Example {
  readonly about: string;
  readonly program: string;
  readonly prints: readonly string[];
}

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** What the examples of a method begin with. */
const OPENED = `import { createSimSwapClient } from 'sim-swap-subgraph/client';
await using simSwaps = await createSimSwapClient({ settings: process.env });
`;

export const FILES = {
  client: 'src/library/client.ts',
  subgraph: 'src/library/subgraph.ts',
  mocks: 'mocks/mocks.ts',
};

/** The examples in the docstrings of an entry of the package. */
export function examplesOf(entry: keyof typeof FILES): readonly Example[] {
  const text = readFileSync(`${ROOT}${FILES[entry]}`, 'utf8');
  const docstrings = text.matchAll(
    /\/\*\*[\s\S]*?\*\/\s*(?:export )?(?:async )?(?:function )?(\w+)/g,
  );
  return Array.from(docstrings).flatMap(([docstring, about = '']) => {
    const plain = docstring.replaceAll(/^ *\* ?/gm, '');
    return Array.from(plain.matchAll(/```ts\n([\s\S]*?)```/g), ([, program = '']) => ({
      about,
      program: program.includes('import ') ? program : OPENED + program,
      prints: Array.from(
        program.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm),
        ([, line = '']) => line,
      ),
    }));
  });
}
