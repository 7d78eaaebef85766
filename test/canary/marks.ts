/** Is in every secret and token of a canary run, so that a part of one is found. */
export const SECRET_MARK = 'CANARYxq';

/** The first digits of all numbers of a canary run. */
export const NUMBER_MARK = '447700900';

interface Leak {
  readonly form: string;
  readonly around: string;
  readonly where: string;
}

/** What people and programs write between the digits of a number. */
const BETWEEN = String.raw`(?:[\s().\-/]|%20|%2D|\\u0020){0,3}`;

const FORMS: ReadonlyMap<string, RegExp> = new Map([
  ['number', new RegExp(NUMBER_MARK.split('').join(BETWEEN), 'i')],
  ['national number', new RegExp(NUMBER_MARK.slice(2).split('').join(BETWEEN), 'i')],
  ['percent-encoded number', percentEncoded(NUMBER_MARK)],
  ['number in base64', inBase64(NUMBER_MARK)],
  ['number in hex', new RegExp(Buffer.from(NUMBER_MARK).toString('hex'), 'i')],
  ['secret', new RegExp(SECRET_MARK, 'i')],
  ['percent-encoded secret', percentEncoded(SECRET_MARK)],
  ['secret in base64', inBase64(SECRET_MARK)],
  ['secret in hex', new RegExp(Buffer.from(SECRET_MARK).toString('hex'), 'i')],
]);

export function leaksIn(text: string, where = text): readonly Leak[] {
  return Array.from(FORMS).flatMap(([form, pattern]) => {
    const found = pattern.exec(text);
    if (found === null) return [];
    const around = text.slice(Math.max(0, found.index - 80), found.index + 80);
    return [{ form, around, where }];
  });
}

function percentEncoded(mark: string): RegExp {
  return new RegExp(Buffer.from(mark).toString('hex').replaceAll(/../g, '%$&'), 'i');
}

/** Base64 of a mark anywhere in a text: it depends on the place, modulo three. */
function inBase64(mark: string): RegExp {
  const shifted = [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(mark)]);
    const whole = bytes.subarray(0, bytes.length - (bytes.length % 3)).toString('base64');
    // Without the characters that depend on what is before the mark.
    return whole.slice(before === 0 ? 0 : 4).replaceAll(/[+/]/g, '[-+/_]');
  });
  return new RegExp(shifted.join('|'));
}
