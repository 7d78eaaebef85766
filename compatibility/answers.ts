import { finding, type Finding } from './judge.ts';

/** The body of a reply. */
export interface Body {
  readonly data?: unknown;
  readonly errors?: readonly {
    readonly message: string;
    readonly path?: readonly (string | number)[];
    readonly extensions?: Readonly<Record<string, unknown>>;
  }[];
}

/** Of one query about a swap, no swap, and a number that is not served. */
export function findingsIn({ data, errors = [] }: Body): readonly Finding[] {
  const [first, second, third] = valuesIn(data);
  const [error] = errors;
  const code = error?.extensions?.['code'];
  const isInPlace = error?.path?.map(String)[1] === '2';
  return [
    finding(
      'the numbers that are known are answered',
      first === true && second === false && third === null,
      JSON.stringify([first, second, third]),
    ),
    finding(
      'the number that is not served has one error, NUMBER_NOT_SERVED',
      code === 'NUMBER_NOT_SERVED' && errors.length === 1,
      `${errors.length} errors, ${JSON.stringify(code) ?? 'no code'}`,
    ),
    finding('the error is at its number', isInPlace, `at ${error?.path?.join('.') ?? 'no path'}`),
  ];
}

function valuesIn(data: unknown): readonly unknown[] {
  const { customers } = (data ?? {}) as {
    customers?: readonly { phoneNumber: { simSwappedWithin: unknown } | null }[] | null;
  };
  return (customers ?? []).map(({ phoneNumber }) => phoneNumber?.simSwappedWithin);
}

/** Asks over HTTP. */
export async function askAt(url: string, query: string): Promise<Body> {
  const reply = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ query }),
  });
  return (await reply.json()) as Body;
}
