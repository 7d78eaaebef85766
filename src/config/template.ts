import type { NumberTemplate } from '../domain/numberTemplate.ts';

/** A text with one place for a number: `{number}`, with its `+`, or `{digits}`, without. */
export const TEMPLATE = /^(?<before>[^{}]*)\{(?<place>number|digits)\}(?<after>[^{}]*)$/;

/** Reads a text that fits {@link TEMPLATE}. Pure. */
export function readTemplate(text: string): NumberTemplate {
  const { before = '', place, after = '' } = TEMPLATE.exec(text)?.groups ?? {};
  return { before, form: place === 'digits' ? 'digits' : 'with-plus', after };
}
