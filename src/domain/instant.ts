/**
 * A point in time as the operator wrote it (with `T` and `Z` in capitals, for browsers), and in milliseconds since
 * 1970, which are less exact: operators send up to nine digits of a second.
 */
export interface Instant {
  readonly text: string;
  readonly epochMs: number;
}

const RFC_3339 =
  /^((?!00)\d{4}-\d{2}-\d{2})T(?:[01]\d|2[0-3])(?::[0-5]\d){2}(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** Reads an RFC 3339 date-time, whose zone is mandatory; `undefined` for everything else. */
export function parseInstant(written: string): Instant | undefined {
  const text = written.toUpperCase();
  const date = RFC_3339.exec(text)?.[1];
  // 31 April would be carried over to 1 May.
  if (date === undefined || new Date(date).getUTCDate() !== Number(date.slice(-2)))
    return undefined;
  return { text, epochMs: Date.parse(text) };
}

export function instantAt(epochMs: number): Instant {
  return { text: new Date(epochMs).toISOString(), epochMs };
}
