/** The body of a reply. */
export interface Body {
  readonly data?: unknown;
  readonly errors?: readonly {
    readonly message: string;
    readonly path?: readonly (string | number)[];
    readonly extensions?: Readonly<Record<string, unknown>>;
  }[];
}

/** What a client gets of one query about a swap, no swap, and a number that is not served. */
export interface Answers {
  /** Whether the two that are known are answered although the third is not. */
  readonly othersAnswered: boolean;
  /** The code of the third, and whether the error is at its own path. */
  readonly code: string;
}

export function answersIn({ data, errors = [] }: Body): Answers {
  const [first, second, third] = valuesIn(data);
  const [error] = errors;
  const code = JSON.stringify(error?.extensions?.['code'] ?? 'none').replaceAll('"', '');
  const isInPlace = error?.path?.map(String)[1] === '2';
  const where = isInPlace ? '' : `, at ${error?.path?.join('.') ?? 'no path'}`;
  return {
    othersAnswered: first === true && second === false && third === null,
    code: `${code}${where}${errors.length > 1 ? `, ${errors.length} errors` : ''}`,
  };
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
