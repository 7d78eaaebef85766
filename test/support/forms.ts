export const IS_LONG = process.env['TEST_FORM'] === 'long';

/** How often, or how many: few in `npm test`, all in `npm run test:heavy`, which runs the files that import it. */
export function inForm({ short, long }: { readonly short: number; readonly long: number }): number {
  return IS_LONG ? long : short;
}
