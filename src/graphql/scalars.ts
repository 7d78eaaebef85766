import { GraphQLScalarType } from 'graphql';
import type { Instant } from '../domain/instant.ts';

/** RFC 3339, in the operator's own words: it may know more digits of a second than we could keep. */
export const DateTime = new GraphQLScalarType<Instant, string>({
  name: 'DateTime',
  // As in schema/phone-number.graphql: what makes the schema executable would leave both out.
  description:
    'A date and time with its zone, as RFC 3339 writes it: `2026-03-14T09:26:53Z` or\n' +
    "`2026-03-14T10:26:53.589+01:00`. Zone and precision are the operator's.",
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc3339#section-5.6',
  serialize(value) {
    if (typeof value === 'object' && value !== null && 'text' in value) return String(value.text);
    throw new TypeError('A DateTime is serialised from an instant.');
  },
});
