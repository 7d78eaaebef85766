import { instantAt } from '../domain/instant.ts';
import { parseMaxAge } from '../domain/maxAge.ts';
import { parsePhoneNumber } from '../domain/phoneNumber.ts';
import { Forbidden } from '../errors.ts';
import { badUserInput } from './errors.ts';
import type {
  PhoneNumberResolvers,
  QueryResolvers,
  SimSwapConsentResolvers,
} from './generated/resolvers.ts';
import type { PhoneNumberEntity } from './phoneNumberEntity.ts';
import { DateTime } from './scalars.ts';

const PhoneNumber: PhoneNumberResolvers = {
  e164: ({ e164 }) => e164,
  lastSimSwap: ({ e164 }, _args, { simSwaps }) => simSwaps.lastSimSwap(e164),
  simSwappedWithin: ({ e164 }, args, { simSwaps }) => {
    const maxAge = parseMaxAge(args.maxAgeHours);
    if ('refused' in maxAge) throw badUserInput(maxAge.refused);
    return simSwaps.simSwappedWithin(e164, maxAge.value);
  },
  simSwapConsent: async ({ e164 }, _args, { simSwaps }) => (await simSwaps.consent(e164)) ?? null,
};

const SimSwapConsent: SimSwapConsentResolvers = {
  state: ({ state }) => state,
  retryAfterSeconds: ({ retryAfterSeconds }) => retryAfterSeconds ?? null,
  expiresAt: ({ expiresAtMs }) => (expiresAtMs === undefined ? null : instantAt(expiresAtMs)),
};

const Query: QueryResolvers = {
  phoneNumber: (_root, { e164 }) => phoneNumber(e164),
  phoneNumbers: (_root, { e164s }) => e164s.map((e164) => phoneNumber(e164)),
  myPhoneNumber: (_root, _args, { caller }) => {
    if (caller.ownNumber === undefined) throw new Forbidden();
    return { e164: caller.ownNumber };
  },
};

/** The BFF: the numbers come in as arguments. */
export const bffResolvers = { DateTime, PhoneNumber, SimSwapConsent, Query };

/**
 * The subgraph: the numbers come in as representations.
 *
 * `_entities` is ours rather than the library's, which for a `__typename` that it does not know fails the
 * whole list, and quotes it.
 */
export const subgraphResolvers = {
  DateTime,
  PhoneNumber,
  SimSwapConsent,
  Query: {
    _entities: (_root: unknown, { representations }: { representations: readonly unknown[] }) =>
      representations.map((representation) => resolveReference(representation)),
  },
};

/** One bad number fails alone: a rejected promise nulls its own entry of a list. */
async function phoneNumber(text: string): Promise<PhoneNumberEntity> {
  const number = parsePhoneNumber(text);
  if ('refused' in number) throw badUserInput(number.refused);
  return { e164: number.value };
}

async function resolveReference(
  representation: unknown,
): Promise<PhoneNumberEntity & { __typename: 'PhoneNumber' }> {
  if (typeof representation !== 'object' || representation === null) {
    throw badUserInput('A representation is an object with __typename and e164.');
  }
  if (!('__typename' in representation) || representation.__typename !== 'PhoneNumber') {
    throw badUserInput('This subgraph resolves representations of PhoneNumber alone.');
  }
  if (!('e164' in representation) || typeof representation.e164 !== 'string') {
    throw badUserInput('A representation of PhoneNumber has its e164 as a string.');
  }
  return { __typename: 'PhoneNumber', ...(await phoneNumber(representation.e164)) };
}
