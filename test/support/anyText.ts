import fc from 'fast-check';

/** Any text, halves of surrogate pairs too; `unit: 'binary'` of `fc.string` first maps all of Unicode, which takes a second. */
export function anyText(maxLength = 10): fc.Arbitrary<string> {
  return fc.array(fc.nat(0xffff), { maxLength }).map((units) => String.fromCharCode(...units));
}
