/** A package of production, and what its manifest says of its licence. */
export interface LicensedPackage {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression; `undefined` where the manifest has none. */
  readonly licence: string | undefined;
}

/** What may be shipped: permissive licences, which ask for their notice and nothing else. */
export const ALLOWED_LICENCES: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
]);

/** The packages that may not be shipped, each with what it says. Pure. */
export function notAllowed(packages: readonly LicensedPackage[]): readonly string[] {
  return packages
    .filter(({ licence }) => licence === undefined || !isAllowed(licence))
    .map(({ name, version, licence = 'no licence' }) => `${name}@${version}: ${licence}`);
}

/** Of an SPDX expression (annex D): all of its parts with AND, one of them with OR. */
function isAllowed(expression: string): boolean {
  const parts = expression.replaceAll(/[()]/g, ' ').trim().split(/\s+/);
  const isSimple = parts.every((part, index) => index % 2 === 0 || part === 'AND' || part === 'OR');
  if (!isSimple) return false;
  const licences = parts.filter((_part, index) => index % 2 === 0);
  // With both, which belongs to which is not looked at: all of them must be allowed.
  return parts.includes('OR') && !parts.includes('AND')
    ? licences.some((licence) => ALLOWED_LICENCES.has(licence))
    : licences.every((licence) => ALLOWED_LICENCES.has(licence));
}
