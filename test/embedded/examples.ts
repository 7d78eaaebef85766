import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** An example of a docstring: what it is about, the program, and what its comments say that it prints. */
export interface Example {
  readonly about: string;
  readonly program: string;
  readonly prints: readonly string[];
}

const SRC = fileURLToPath(new URL('../../src/', import.meta.url));

/** The examples in the docstrings of an entry of the package. */
export function examplesOf(entry: 'client' | 'subgraph' | 'mocks'): readonly Example[] {
  const text = readFileSync(`${SRC}${entry}.ts`, 'utf8');
  const docstrings = text.matchAll(
    /\/\*\*[\s\S]*?\*\/\s*(?:export )?(?:async )?(?:function )?(\w+)/g,
  );
  return Array.from(docstrings).flatMap(([docstring, about = '']) => {
    const plain = docstring.replaceAll(/^ *\* ?/gm, '');
    return Array.from(plain.matchAll(/```ts\n([\s\S]*?)```/g), ([, program = '']) => ({
      about,
      program,
      prints: Array.from(
        program.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm),
        ([, line = '']) => line,
      ),
    }));
  });
}
