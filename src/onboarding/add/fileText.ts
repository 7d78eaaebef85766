import { applyEdits, modify } from 'jsonc-parser';
import type { Draft } from './draft.ts';

/** The text of a file that has no operators yet. */
export function emptyFile(schema: string): string {
  return `${JSON.stringify({ $schema: schema, operators: [] }, null, 2)}\n`;
}

/**
 * The text with the entry at its index; comments and all other entries stay as they are. Pure.
 *
 * @param index of the entry in whose place it goes, or the number of entries
 */
export function withEntryText(text: string, entry: Draft, index: number, isNew: boolean): string {
  const formattingOptions = {
    insertSpaces: true,
    tabSize: 2,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  };
  const edits = modify(text, ['operators', index], entry, {
    formattingOptions,
    isArrayInsertion: isNew,
  });
  return applyEdits(text, edits);
}
