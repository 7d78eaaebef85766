import { isObjectType, type GraphQLResolveInfo } from 'graphql';
import { isQuestionField } from '../domain/fields.ts';
import { parsePhoneNumber } from '../domain/phoneNumber.ts';
import { AnswerError, badUserInput, internalError } from '../graphql/answerErrors.ts';
import { logDefect } from '../graphql/errors.ts';
import type { PhoneNumberEntity } from '../graphql/request.ts';
import { bffResolvers, resolveReference } from '../graphql/resolvers.ts';
import type { Role } from '../graphql/typeDefs.ts';
import type { Log } from '../log/log.ts';
import { requestIn, requestOf } from './mountedRequest.ts';

type Resolve = (
  source: unknown,
  args: Readonly<Record<string, unknown>>,
  context: unknown,
  info: GraphQLResolveInfo,
) => unknown;

/**
 * The service's resolvers, for a server of another program: they find what they need under `simSwap` in its context,
 * limit what the service limits before it executes, and throw only errors that a client may see.
 */
export function mountedResolvers(role: Role, log: Log) {
  const { DateTime, PhoneNumber, SimSwapConsent, Query } = bffResolvers;
  const safely = boundary(log);
  const isTypeOf = safely((_source: unknown, context: unknown, info: GraphQLResolveInfo) => {
    requestOf(context).countNumber(info);
    return true;
  });
  // From then on it is called for every number before its fields, whichever field leads there. A number that it refuses
  // is null as a whole; a field would be null below its alias. Mercurius accepts no `__isTypeOf` among the resolvers.
  const boundNumbers = ({ schema }: GraphQLResolveInfo): void => {
    const type = schema.getType('PhoneNumber');
    if (isObjectType(type)) type.isTypeOf ??= isTypeOf;
  };
  const number = eachField(PhoneNumber, (resolve, field) =>
    safely((source, args, context, info) => {
      boundNumbers(info);
      const mounted = requestOf(context);
      const answer = () => resolve(entityOf(source), args, mounted, info);
      return isQuestionField(field) ? mounted.during(info, answer) : answer();
    }),
  );
  const shared = { DateTime, SimSwapConsent: eachField(SimSwapConsent, safely) };
  switch (role) {
    case 'bff':
      return {
        ...shared,
        PhoneNumber: number,
        Query: eachField(Query, (resolve) =>
          safely((source, args, context, info) => {
            boundNumbers(info);
            const mounted = requestOf(context);
            const { e164s } = args;
            mounted.countTexts(Array.isArray(e164s) ? e164s.length : 1, info);
            return resolve(source, args, mounted, info);
          }),
        ),
      };
    case 'subgraph': {
      // A promise, since a thrown error would null the other entities as well. Apollo passes the reference, the context
      // and `info`; Mercurius passes arguments before the context.
      const __resolveReference = safely(async (reference: unknown, ...others: unknown[]) => {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the last argument of every resolver
        const info = others.at(-1) as GraphQLResolveInfo;
        boundNumbers(info);
        requestOf(others.find(requestIn)).countTexts(1, info);
        return await resolveReference(reference);
      });
      return { ...shared, PhoneNumber: { ...number, __resolveReference } };
    }
  }
}

/** What a field of the other program returned. */
function entityOf(source: unknown): PhoneNumberEntity {
  const isObject = typeof source === 'object' && source !== null;
  const text: unknown = isObject && 'e164' in source ? source.e164 : undefined;
  const parsed = parsePhoneNumber(typeof text === 'string' ? text : '');
  if (parsed.kind === 'refused') throw badUserInput(parsed.reason);
  return { e164: parsed.value };
}

function eachField(
  fields: object,
  mount: (resolve: Resolve, name: string) => Resolve,
): Record<string, Resolve> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, resolve]: [string, Resolve]) => [
      name,
      mount(resolve, name),
    ]),
  );
}

/** Logs each error from below that is not for a client, and returns nothing of it. */
function boundary(log: Log) {
  const ours = (error: unknown, args: readonly unknown[]): AnswerError => {
    const known = error instanceof AnswerError ? error : internalError();
    if (known !== error) logDefect(error, log);
    const mounted = requestIn(args.find(requestIn));
    Object.assign(known.extensions, mounted?.request.reference(String(known.extensions['code'])));
    return known;
  };
  return <Args extends readonly unknown[], T>(work: (...args: Args) => T) =>
    (...args: Args): T => {
      try {
        const value = work(...args);
        if (!(value instanceof Promise)) return value;
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it rejects with another error, and resolves alike
        return value.catch((error: unknown) => Promise.reject(ours(error, args))) as T;
      } catch (error) {
        throw ours(error, args);
      }
    };
}
