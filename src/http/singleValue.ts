/** The value of a header that may stand once; `undefined` when it is absent or repeated. Pure. */
export function singleValue(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : undefined;
}
