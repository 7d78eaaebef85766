/** A number of a range that is reserved for fiction; there are a thousand of them. */
export function number(index: number): string {
  return `+447700900${String(index % 1000).padStart(3, '0')}`;
}

export function numbers(count: number, from = 0): readonly string[] {
  return Array.from({ length: count }, (_, index) => number(from + index));
}

export function times(count: number, text: (index: number) => string, between = ' '): string {
  return Array.from({ length: count }, (_, index) => text(index)).join(between);
}

export function within(e164: string, hours = 240): string {
  return `{ phoneNumber(e164: "${e164}") { simSwappedWithin(maxAgeHours: ${hours}) } }`;
}

/** What a reply says to {@link within}: the answer, or the codes in its place. */
export function answerIn({
  data,
  codes,
}: {
  readonly data: Readonly<Record<string, unknown>> | null | undefined;
  readonly codes: readonly string[];
}): unknown {
  const found = data?.['phoneNumber'] as { readonly simSwappedWithin?: unknown } | null | undefined;
  return found?.simSwappedWithin ?? codes.join();
}

/** Does one after the other of many things, so many at a time. */
export async function inTurn<T>(
  items: Iterable<T>,
  atOnce: number,
  act: (item: T) => Promise<unknown>,
): Promise<void> {
  const iterator = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = iterator.next(); next.done !== true; next = iterator.next()) {
      await act(next.value);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
