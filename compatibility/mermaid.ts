import DOMPurify from 'dompurify';
import mermaid from 'mermaid';
import { codeBlocksOf, filesOfProject } from '../test/support/documents.ts';
import { finding, versionsOf, type Finding, type Judge } from './judge.ts';

/** What draws the pictures of the pages, here and on forges. */
export const MERMAID: Judge = {
  name: 'Mermaid, of the pictures in the documents',
  version: versionsOf(['mermaid']),
  form: 'short',
  async judge() {
    // Without a document it has nothing to clean, and texts are only parsed here.
    Object.assign(DOMPurify, { addHook: () => undefined, sanitize: (text: string) => text });
    const pictures = [
      ...filesOfProject(/\.md$/, ['.']),
      ...filesOfProject(/\.md$/, ['docs', 'examples', 'bench', 'monitoring']),
    ]
      .flatMap(codeBlocksOf)
      .filter(({ language }) => language === 'mermaid');
    return Promise.all(pictures.map(async ({ page, text }) => parsed(page, text)));
  },
};

async function parsed(page: string, text: string): Promise<Finding> {
  const [kind = ''] = text.split('\n');
  // It ends a statement, in a label too: what follows would be drawn as states of their own.
  if (text.includes(';')) return finding(`${page}: ${kind}`, false, 'a semicolon in a label');
  try {
    await mermaid.parse(text);
    return finding(`${page}: ${kind}`, true, '');
  } catch (error) {
    return finding(`${page}: ${kind}`, false, String(error));
  }
}
