/** What a query asks about each number. */
export type Fields = 'date' | 'window' | 'date and window' | 'date and three windows';

/** A kind of query, and how it comes. */
export interface Workload {
  readonly numbers: number;
  readonly fields: Fields;
  /** One number, asked for as often. */
  readonly isOneNumber?: boolean;
  /** How many queries are under way at a time. */
  readonly concurrency: number;
  /** How many queries a round takes. */
  readonly requests: number;
  /** Between an answer and the next query; none if left out. */
  readonly pauseMs?: number;
}

const SELECTIONS: Readonly<Record<Fields, string>> = {
  date: 'lastSimSwap',
  window: 'simSwappedWithin(maxAgeHours: 240)',
  'date and window': 'lastSimSwap simSwappedWithin(maxAgeHours: 240)',
  'date and three windows': `lastSimSwap
    day: simSwappedWithin(maxAgeHours: 24)
    tenDays: simSwappedWithin(maxAgeHours: 240)
    month: simSwappedWithin(maxAgeHours: 720)`,
};

/** How many lookups the fields take one by one. */
export const LOOKUPS_ONE_BY_ONE: Readonly<Record<Fields, number>> = {
  date: 1,
  window: 1,
  'date and window': 2,
  'date and three windows': 4,
};

/** The thousand mobile numbers that the United Kingdom keeps for fiction. */
const FICTION = 1000;

/** So many of them, from this one on; it starts again after the last. */
export function numbers(count: number, from = 0): string[] {
  return Array.from(
    { length: count },
    (_, index) => `+447700900${String((from + index) % FICTION).padStart(3, '0')}`,
  );
}

/**
 * The numbers that a client's queries name. Clients at a time ask about others each: a service may share a
 * lookup among those who ask about the same number, and would do less work than it is measured for.
 */
export function numbersOf(
  { numbers: count, isOneNumber = false }: Workload,
  client: number,
): string[] {
  return isOneNumber
    ? Array.from({ length: count }, () => '+447700900123')
    : numbers(count, client * count);
}

/** What a table calls it: `100 × window`. */
export function nameOf({ numbers: count, fields, isOneNumber = false }: Workload): string {
  return `${count.toLocaleString('en')} × ${isOneNumber ? 'the same number, ' : ''}${fields}`;
}

/** The body of a client's queries. */
export function bodyOf(workload: Workload, client = 0): string {
  const selection = SELECTIONS[workload.fields];
  return JSON.stringify({
    query: `query Numbers($e164s: [ID!]!) { phoneNumbers(e164s: $e164s) { ${selection} } }`,
    variables: { e164s: numbersOf(workload, client) },
  });
}
