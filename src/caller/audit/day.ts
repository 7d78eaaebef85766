const DAY = /^\d{4}-\d{2}-\d{2}$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/**
 * Reads a day, which begins at midnight UTC, or a time with a zone (RFC 3339), as milliseconds since 1970;
 * `undefined` where it is neither. Pure.
 */
export function parseDay(text: string): number | undefined {
  if (!DAY.test(text) && !TIME.test(text)) return undefined;
  const atMs = Date.parse(text);
  if (Number.isNaN(atMs)) return undefined;
  // The 31st of a month with 30 days would be read as the day after.
  const isDay = !DAY.test(text) || new Date(atMs).toISOString().startsWith(text);
  return isDay ? atMs : undefined;
}
