import type { PhoneNumber } from './phoneNumber.ts';

/** How a number is written: `+447700900001`, or `447700900001`. */
export type NumberForm = 'with-plus' | 'digits';

/** A text around a number, such as `tel:` before one `with-plus`. */
export interface NumberTemplate {
  readonly before: string;
  readonly form: NumberForm;
  readonly after: string;
}

/** `tel:` URI (RFC 3966). */
export const TEL_URI: NumberTemplate = { before: 'tel:', form: 'with-plus', after: '' };

/** The number in that form. Pure. */
export function writeNumber(number: PhoneNumber, form: NumberForm): string {
  switch (form) {
    case 'with-plus':
      return number;
    case 'digits':
      return number.slice(1);
  }
}

/** The text with the number in it. Pure. */
export function fillTemplate({ before, form, after }: NumberTemplate, number: PhoneNumber): string {
  return `${before}${writeNumber(number, form)}${after}`;
}
