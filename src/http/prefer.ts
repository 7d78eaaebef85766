/** `wait` of RFC 7240 §4.3: delta-seconds, as a token or quoted. */
const WAIT = /^wait[\t ]*=[\t ]*(?:(\d{1,9})|"(\d{1,9})")[\t ]*(?:;|$)/i;

/**
 * How long a client would rather wait for an answer than hear that there is none yet: the preference
 * `wait` of a header `Prefer` (RFC 7240), in milliseconds. `undefined` where it has none that can be read;
 * of several, the first counts. Pure.
 */
export function preferredWaitMs(prefer: string | undefined): number | undefined {
  const preferences = prefer?.split(',').map((preference) => preference.trim()) ?? [];
  const first = preferences.find((preference) => /^wait\b/i.test(preference));
  const [, token, quoted] = WAIT.exec(first ?? '') ?? [];
  const seconds = token ?? quoted;
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}
