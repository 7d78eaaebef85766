import type { GraphqlReply, Service } from '../support/service.ts';

const HOUR_MS = 3_600_000;

/** A date in whole hours before now, a boolean, `null` without an error, or the code of the error. */
export type Told = string | boolean | null;

/** The answers about a number, by alias; fields such as `lastSimSwap` and `day: simSwappedWithin(maxAgeHours: 24)`. */
export async function tellAbout(
  service: Service,
  number: string,
  ...fields: readonly string[]
): Promise<Readonly<Record<string, Told>>> {
  const query = `query ($number: ID!) { phoneNumber(e164: $number) { ${fields.join(' ')} } }`;
  return told(await service.ask(query, { number }));
}

/** The answers of a `phoneNumber` query, each as a value or as the code in its place. */
export function told({ data, errors = [] }: GraphqlReply): Readonly<Record<string, Told>> {
  const answers = data?.['phoneNumber'];
  if (typeof answers !== 'object' || answers === null) {
    throw new Error(`No answers: ${errors.map(({ message }) => message).join()}`);
  }
  const codes = new Map(errors.map(({ path = [], extensions }) => [path[1], extensions?.code]));
  return Object.fromEntries(
    Object.entries(answers).map(([alias, value]: [string, unknown]) => {
      const code = codes.get(alias);
      if (code !== undefined && value !== null) throw new Error(`${alias}: an answer and an error`);
      return [alias, code ?? readable(value)];
    }),
  );
}

function readable(value: unknown): Told {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value !== 'string') throw new Error('An answer is a date, a boolean or null.');
  return `${Math.round((Date.now() - Date.parse(value)) / HOUR_MS)} h ago`;
}
