import { GraphQLScalarType } from 'graphql';
import type { Instant } from '../domain/instant.ts';

/** RFC 3339, in the operator's own words: it may know more digits of a second than we could keep. */
export const DateTime = new GraphQLScalarType<Instant, string>({
  name: 'DateTime',
  serialize(value) {
    if (typeof value === 'object' && value !== null && 'text' in value) return String(value.text);
    throw new TypeError('A DateTime is serialised from an instant.');
  },
});
