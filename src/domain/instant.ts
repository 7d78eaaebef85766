/**
 * A point in time as the operator wrote it (with `T` and `Z` in capitals, for browsers), and as milliseconds since 1970.
 *
 * The text is kept because operators send up to nine digits of a second, and milliseconds drop them.
 */
export interface Instant {
  readonly text: string;
  readonly epochMs: number;
}

const RFC_3339 =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(\.\d{1,9})?([Zz]|([+-])(\d{2}):(\d{2}))$/;

/** Reads an RFC 3339 date-time, whose zone is mandatory; `undefined` for everything else. */
export function parseInstant(text: string): Instant | undefined {
  const parts = RFC_3339.exec(text);
  if (parts === null) return undefined;
  const part = (index: number) => Number(parts[index] ?? 0);
  const [year, month, day] = [part(1), part(2), part(3)];
  const [hour, minute, second, fraction] = [part(4), part(5), part(6), part(7)];
  const [offsetHours, offsetMinutes] = [part(10), part(11)];
  if (hour > 23 || minute > 59 || second > 59 || offsetHours > 23 || offsetMinutes > 59) {
    return undefined;
  }
  const midnight = new Date(Date.UTC(year, month - 1, day));
  // Date.UTC carries 31 April over to 1 May, and reads the years 0 to 99 as 1900 to 1999.
  const exists =
    midnight.getUTCFullYear() === year &&
    midnight.getUTCMonth() === month - 1 &&
    midnight.getUTCDate() === day;
  if (!exists) return undefined;

  const sinceMidnightMs = ((hour * 60 + minute) * 60 + second) * 1000;
  const fractionMs = Math.trunc(fraction * 1000);
  const offsetMs = (offsetHours * 60 + offsetMinutes) * 60_000 * (parts[9] === '-' ? -1 : 1);
  return {
    text: text.toUpperCase(),
    epochMs: midnight.getTime() + sinceMidnightMs + fractionMs - offsetMs,
  };
}

/** The instant of our own clock, in UTC. */
export function instantAt(epochMs: number): Instant {
  return { text: new Date(epochMs).toISOString(), epochMs };
}
