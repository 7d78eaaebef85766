export const IS_LONG = process.env['TEST_FORM'] === 'long';

/**
 * How often, or how many: few in `npm test`, and all in `npm run test:heavy`, which runs the files that
 * import this one.
 */
export function inForm({ short, long }: { readonly short: number; readonly long: number }): number {
  return IS_LONG ? long : short;
}
