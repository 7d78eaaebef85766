/** A number in E.164 form: `+`, country code and subscriber number, digits alone. */
export type E164 = string & { readonly __brand: 'E164' };

/** Why a text is not taken for a number. */
export type BadNumber =
  'empty' | 'national' | 'doubleZero' | 'trunkZero' | 'spreadsheet' | 'length' | 'characters';

/** What a text is read as. */
export type NumberReading =
  | { readonly kind: 'number'; readonly e164: E164 }
  | { readonly kind: 'bad'; readonly why: BadNumber };

/** Spaces and hyphens of every kind that a document may hold. */
const SEPARATORS = /[\s\u00a0\u2007\u202f\u2010-\u2015\u2212-]/gu;
const E164_FORM = /^\+[1-9][0-9]{4,14}$/u;

/**
 * Reads a number as the service does: with `+` or `tel:+`, spaces and hyphens dropped. A national number
 * is refused: read as international it would give a true answer about a stranger. The apostrophe that
 * makes a cell text in a spreadsheet may stand before it, as in what this page exports.
 */
export function readNumber(text: string): NumberReading {
  const bare = text.trim().replace(/^'/u, '').replace(/^tel:/iu, '').replace(SEPARATORS, '');
  if (bare === '') return { kind: 'bad', why: 'empty' };
  if (/^[0-9](?:[.,][0-9]+)?e\+?[0-9]+$/iu.test(bare)) return { kind: 'bad', why: 'spreadsheet' };
  if (bare.includes('(0)')) return { kind: 'bad', why: 'trunkZero' };
  if (/^00[0-9]*$/u.test(bare)) return { kind: 'bad', why: 'doubleZero' };
  if (/^[0-9]+$/u.test(bare)) return { kind: 'bad', why: 'national' };
  if (!/^\+[0-9]+$/u.test(bare)) return { kind: 'bad', why: 'characters' };
  return isE164(bare) ? { kind: 'number', e164: bare } : { kind: 'bad', why: 'length' };
}

function isE164(text: string): text is E164 {
  return E164_FORM.test(text);
}

/** Where the country code ends, near enough for reading: of one digit are +1 and +7 alone. */
function codeLength(e164: E164): number {
  return /^\+[17]/u.test(e164) ? 2 : 3;
}

/** Whose digits may be read by people who pass by: the country code and the last three. */
export function masked(e164: E164): string {
  return `${e164.slice(0, codeLength(e164))} ••• ••• ${e164.slice(-3)}`;
}

/** In groups, for reading aloud: `+447700900001` is `+44 7700 900 001`. */
export function grouped(e164: E164): string {
  const groups: string[] = [];
  let rest: string = e164.slice(codeLength(e164));
  while (rest.length > 4) {
    groups.unshift(rest.slice(-3));
    rest = rest.slice(0, -3);
  }
  return [e164.slice(0, codeLength(e164)), rest, ...groups].join(' ');
}

/** What the list says of a text that is no number, and what to do. */
export function saysOfBadNumber(why: BadNumber): string {
  switch (why) {
    case 'empty':
      return 'No number in this row.';
    case 'national':
      return 'No + and country code. Add them: a national number could be a stranger’s abroad.';
    case 'doubleZero':
      return 'Begins with 00. Write + in its place.';
    case 'trunkZero':
      return 'Holds a trunk (0). Leave it out.';
    case 'spreadsheet':
      return 'A spreadsheet has rounded it. Format the column as text and export again.';
    case 'length':
      return 'Not the length of an international number: 5 to 15 digits after the +.';
    case 'characters':
      return 'Holds something else than +, digits, spaces and hyphens.';
  }
}
