import {
  getCountries,
  getCountryCallingCode,
  parsePhoneNumberFromString,
  type CountryCode,
} from 'libphonenumber-js/min';
import metadata from 'libphonenumber-js/min/metadata';

/** A number in E.164 form: `+`, country code and subscriber number, only digits. */
export type E164 = string & { readonly __brand: 'E164' };

/**
 * How numbers without a `+` are to be completed, which a person chooses: with the code of a country, or with
 * only the `+` where the code is there already.
 */
export type Completion = CountryCode | 'codeIncluded';

/** Why a text is not taken for a number. */
export type BadNumber =
  | 'blankLine'
  | 'empty'
  | 'noCountryCode'
  /** Two numbers, of which one is only its last digits. */
  | 'severalNumbers'
  /** It has two readings in the chosen country. */
  | 'ambiguous'
  | 'notPossible'
  | 'spreadsheet'
  | 'length'
  | 'characters';

/** What a text is read as. */
export type NumberReading =
  | {
      readonly kind: 'number';
      readonly e164: E164;
      /** More than spaces was changed: a person sees what it becomes before it is checked. */
      readonly isCompleted: boolean;
    }
  | { readonly kind: 'bad'; readonly why: BadNumber };

/** What a cell is read as: people write two numbers into one. */
export type NumbersReading =
  | {
      readonly kind: 'numbers';
      readonly e164s: readonly [E164, ...E164[]];
      /** More than spaces was changed, or there are several: a person sees what it becomes. */
      readonly isCompleted: boolean;
    }
  | Extract<NumberReading, { kind: 'bad' }>;

/** Directions and joiners of a copied number, such as U+202A, which are not visible. */
const INVISIBLE = /\p{Cf}/gu;
const SEPARATORS = /[\s\u00a0\u2007\u202f\u2010-\u2015\u2212()./-]/gu;
const E164_FORM = /^\+[1-9][0-9]{4,14}$/u;

/** Between two numbers of a cell. A slash is also written within one. */
const BETWEEN_NUMBERS = /[/;,|&\n]|\s(?:or|and|oder|und|ou|et|y|o)\s/iu;
const MIN_DIGITS_OF_SEVERAL = 7;
const MAX_NUMBERS_IN_CELL = 4;

/** Reads the numbers of a cell, all of them or none: where one cannot be read, the cell is refused. */
export function readNumbers(text: string, completion: Completion | null = null): NumbersReading {
  const parts = text.split(BETWEEN_NUMBERS).map((part) => part.trim());
  const digits = parts.map((part) => withoutExtension(part).replace(/[^0-9]/gu, '').length);
  const areSeveral =
    parts.length > 1 &&
    parts.length <= MAX_NUMBERS_IN_CELL &&
    digits.every((count) => count >= MIN_DIGITS_OF_SEVERAL);
  if (!areSeveral) {
    // 07700 900001/02: read as one, it would be a stranger's number.
    if ((digits[0] ?? 0) >= MIN_DIGITS_OF_SEVERAL && /\/\s*[0-9]{1,4}$/u.test(text.trim())) {
      return { kind: 'bad', why: 'severalNumbers' };
    }
    const reading = readNumber(text, completion);
    return reading.kind === 'bad'
      ? reading
      : { kind: 'numbers', e164s: [reading.e164], isCompleted: reading.isCompleted };
  }
  const e164s = new Set<E164>();
  for (const part of parts) {
    const reading = readNumber(part, completion);
    if (reading.kind === 'bad') return reading;
    e164s.add(reading.e164);
  }
  const [first, ...others] = e164s;
  if (first === undefined) return { kind: 'bad', why: 'empty' };
  return { kind: 'numbers', e164s: [first, ...others], isCompleted: true };
}

/** `ext. 12`, `x12`, `#12` and `;ext=12` (RFC 3966). */
const EXTENSION = /(?<=[0-9)])(?:[\s,;]*(?:ext(?:ension|n)?|x)[.:=\s]*|\s*#\s*)[0-9]{1,6}$/iu;

function withoutExtension(text: string): string {
  return text.replace(EXTENSION, '').trim();
}

/**
 * Reads a number. One without `+` is refused unless a person has said how to complete it: a national number
 * read as international would give a true answer about a stranger.
 */
export function readNumber(text: string, completion: Completion | null = null): NumberReading {
  const whole = withoutWrapping(text);
  const bare = withoutExtension(whole);
  const hasExtension = bare !== whole;
  if (bare === '') return { kind: 'bad', why: 'empty' };
  if (/^[0-9](?:[.,][0-9]+)?e\+?[0-9]+$/iu.test(bare)) return { kind: 'bad', why: 'spreadsheet' };
  const compact = bare.replace(SEPARATORS, '');
  if (/^\+[0-9]+$/u.test(compact)) {
    // +44 (0)7700 …: whether the zero belongs to the number depends on the country.
    if (bare.includes('(0)')) return oneOf([possible(compact)]);
    return isE164(compact)
      ? { kind: 'number', e164: compact, isCompleted: hasExtension }
      : { kind: 'bad', why: 'length' };
  }
  if (!/^[0-9]+$/u.test(compact)) return { kind: 'bad', why: 'characters' };
  // 00 is dialled before a country code in most of the world.
  const dialled = compact.startsWith('00') ? possible(`+${compact.slice(2)}`) : undefined;
  if (completion === null) {
    return dialled === undefined ? { kind: 'bad', why: 'noCountryCode' } : oneOf([dialled]);
  }
  if (completion === 'codeIncluded') return oneOf([dialled ?? possible(`+${compact}`)]);
  const hasCode = compact.startsWith(getCountryCallingCode(completion));
  return oneOf([
    dialled,
    possible(compact, completion),
    // As a spreadsheet leaves it that takes +44 for a sum.
    hasCode ? possible(`+${compact}`) : undefined,
  ]);
}

/** `'+44…`, `="+44…"`, `=+44…`, `tel:+44…` and `447….0` are what spreadsheets and documents make of numbers. */
function withoutWrapping(text: string): string {
  return text
    .replace(INVISIBLE, '')
    .trim()
    .replace(/^'/u, '')
    .replace(/^="?([^"]*)"?$/u, '$1')
    .replace(/^tel:/iu, '')
    .replace(/^([0-9]{6,})\.0$/u, '$1')
    .trim();
}

/** By its length only: the operator knows whether a number is in use. */
function possible(text: string, defaultCountry?: CountryCode): E164 | undefined {
  const parsed = parsePhoneNumberFromString(text, {
    ...(defaultCountry === undefined ? {} : { defaultCountry }),
    extract: false,
  });
  return parsed?.isPossible() === true && isE164(parsed.number) ? parsed.number : undefined;
}

function oneOf(readings: readonly (E164 | undefined)[]): NumberReading {
  const [first, ...others] = new Set(readings.filter((one) => one !== undefined));
  if (first === undefined) return { kind: 'bad', why: 'notPossible' };
  if (others.length > 0) return { kind: 'bad', why: 'ambiguous' };
  return { kind: 'number', e164: first, isCompleted: true };
}

function isE164(text: string): text is E164 {
  return E164_FORM.test(text);
}

const CODES: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(metadata.country_calling_codes),
);

/** With its `+`. */
function callingCodeOf(e164: E164): string {
  const length = [2, 3, 4].find((end) => CODES.has(e164.slice(1, end))) ?? 3;
  return e164.slice(0, length);
}

/** Whose digits may be read by people who pass by: the country code and the last three. */
export function masked(e164: E164): string {
  return `${callingCodeOf(e164)} ••• ••• ${e164.slice(-3)}`;
}

/** The digits of a text but for the last three: a number in whatever form it was written. */
export function maskedText(text: string): string {
  return text.replace(/[0-9](?=(?:[^0-9]*[0-9]){3})/gu, '•');
}

/** In the groups of its country, for reading aloud; as it is where those are not known. */
export function grouped(e164: E164): string {
  const shown = parsePhoneNumberFromString(e164)?.formatInternational() ?? e164;
  return shown.replaceAll(' ', '') === e164 ? shown : e164;
}

const COUNTRY_NAMES = new Intl.DisplayNames(['en-GB'], { type: 'region' });

/** Such as `Germany`; where several countries share a code, that is all that is known. */
export function countryName(e164: E164): string | null {
  const country = parsePhoneNumberFromString(e164)?.country;
  if (country !== undefined) return COUNTRY_NAMES.of(country) ?? country;
  const [main, ...others] = CODES.get(callingCodeOf(e164).slice(1)) ?? [];
  if (main === undefined || !/^[A-Z]{2}$/u.test(main)) return null;
  const name = COUNTRY_NAMES.of(main) ?? main;
  return others.length === 0
    ? name
    : `Country code ${callingCodeOf(e164)} (${name} or ${others.length} ${others.length === 1 ? 'other' : 'others'})`;
}

/** What a person chooses from, by name. */
export const COUNTRIES: readonly { readonly id: CountryCode; readonly name: string }[] =
  getCountries()
    .map((id) => ({ id, name: `${COUNTRY_NAMES.of(id) ?? id} +${getCountryCallingCode(id)}` }))
    .toSorted((a, b) => a.name.localeCompare(b.name, 'en'));

/** What is wrong with a text that is not a number, and what to do. */
export function saysOfBadNumber(why: BadNumber, text: string): string {
  switch (why) {
    case 'blankLine':
      return 'Empty line.';
    case 'empty':
      return 'No number in this row.';
    case 'noCountryCode':
      return 'Missing country code. Write it as +44 7700 900001.';
    case 'severalNumbers':
      return 'Several numbers, of which one is not complete. Write each in full.';
    case 'ambiguous':
      return 'Two readings are possible in this country. Add + and the country code.';
    case 'notPossible':
      return 'Too short or too long for this country.';
    case 'spreadsheet':
      return 'Rounded by a spreadsheet. Format the column as text and export it again.';
    case 'length':
      return 'Too short or too long: 5 to 15 digits after the +.';
    case 'characters': {
      if (!/\d/u.test(text)) return 'Not a phone number.';
      const [found = text] = /[^\s\d+()./-]+/u.exec(text) ?? [];
      return `Contains characters that are not part of a phone number: “${found.slice(0, 20)}”.`;
    }
  }
}
