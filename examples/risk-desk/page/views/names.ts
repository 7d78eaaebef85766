const NUMBER = new Intl.NumberFormat('en-GB');
const TIME = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' });
const DATE_TIME = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
const DATE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' });

/** Such as `10,000`. */
export function numberName(value: number): string {
  return NUMBER.format(value);
}

/** In the person's own time zone, such as `14:05`. */
export function timeName(ms: number): string {
  return TIME.format(ms);
}

/** Such as `19 Nov 2026, 14:05`. */
export function dateTimeName(ms: number): string {
  return DATE_TIME.format(ms);
}

/** Such as `19 Nov 2026`. */
export function dateName(ms: number): string {
  return DATE.format(ms);
}

/** Such as `1 number` and `20 numbers`. */
export function countName(count: number, one: string, many = `${one}s`): string {
  return `${numberName(count)} ${count === 1 ? one : many}`;
}
