/** Stands in every secret and token that a canary run hands out, so that any part of one can be told. */
export const SECRET_MARK = 'CANARYxq';

/** All numbers of a canary run start so; the last three digits are any. */
export const NUMBER_MARK = '447700900';

interface Leak {
  readonly form: string;
  readonly around: string;
  readonly where: string;
}

/** What stands between the digits of a number when people or programs write it. */
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

/** Base64 of a mark that stands anywhere in a text: it depends on the place, modulo three. */
function inBase64(mark: string): RegExp {
  const shifted = [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(mark)]);
    const whole = bytes.subarray(0, bytes.length - (bytes.length % 3)).toString('base64');
    // What depends on what stands before is left out.
    return whole.slice(before === 0 ? 0 : 4).replaceAll(/[+/]/g, '[-+/_]');
  });
  return new RegExp(shifted.join('|'));
}
