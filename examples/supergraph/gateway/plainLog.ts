import { Logger } from '@graphql-hive/gateway-runtime';

/**
 * One plain line for each error: its code, and what the gateway says. Left to itself it writes whole errors in
 * colour, with stacks and with the query.
 */
export const plainLog = new Logger({
  level: 'warn',
  writers: [
    {
      write(level, attributes, message) {
        const codes = [...new Set(codesIn(attributes))].join(', ');
        const says =
          message === undefined || message === null || message === '' ? '' : `: ${message}`;
        process.stderr.write(`gateway ${level}${says}${codes === '' ? '' : ` (${codes})`}\n`);
      },
    },
  ],
});

/** Codes of errors, however deep they are. */
function codesIn(value: unknown, depth = 0): readonly string[] {
  if (typeof value !== 'object' || value === null || depth > 6) return [];
  return Object.entries(value).flatMap(([name, one]: readonly [string, unknown]) =>
    name === 'code' && typeof one === 'string' ? [one] : codesIn(one, depth + 1),
  );
}
