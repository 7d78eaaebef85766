const NUMBER = new Intl.NumberFormat('en-GB');
const SHARE = new Intl.NumberFormat('en-GB', { style: 'percent', maximumFractionDigits: 1 });
const TIME = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' });
const DATE_TIME = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });

/** Such as `10,000`. */
export function numberName(value: number): string {
  return NUMBER.format(value);
}

/** Such as `6.5%`; what is there is never `0%`. */
export function shareName(part: number, whole: number): string {
  const share = whole === 0 ? 0 : part / whole;
  return share > 0 && share < 0.001 ? '<0.1%' : SHARE.format(share);
}

/** In the person's own time zone, such as `14:05`. */
export function timeName(ms: number): string {
  return TIME.format(ms);
}

/** Such as `19 Nov 2026, 14:05`. */
export function dateTimeName(ms: number): string {
  return DATE_TIME.format(ms);
}

/** Such as `1 number` and `20 numbers`. */
export function countName(count: number, one: string, many = `${one}s`): string {
  return `${numberName(count)} ${count === 1 ? one : many}`;
}

/** Such as `€3.36`; `null` where the number of lookups or their price is not known. */
export function priceName(
  lookups: number | null,
  price: { readonly amount: number; readonly currency: string } | null,
): string | null {
  if (lookups === null || price === null) return null;
  const { amount, currency } = price;
  return new Intl.NumberFormat('en-GB', { style: 'currency', currency }).format(lookups * amount);
}
