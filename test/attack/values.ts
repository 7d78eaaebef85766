/** A number of a range that is reserved for fiction; there are a thousand of them. */
export function number(index: number): string {
  return `+447700900${String(index % 1000).padStart(3, '0')}`;
}

export function times(count: number, text: (index: number) => string, between = ' '): string {
  return Array.from({ length: count }, (_, index) => text(index)).join(between);
}

export function within(e164: string): string {
  return `{ phoneNumber(e164: "${e164}") { simSwappedWithin } }`;
}
