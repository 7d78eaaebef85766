import { writeNumber } from '../domain/numberTemplate.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Lookup } from '../domain/question.ts';
import type { LookupMembers, OperatorSettings, ReadingSettings } from './operatorSettings.ts';

/** What a lookup carries beside its token. */
export interface LookupRequestParts {
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: string;
}

/** What decides how a lookup is written. */
export type LookupWriting = Pick<OperatorSettings, 'grant' | 'phoneNumber' | 'reading'>;

/** Writes a lookup as the operator wants to read it. `maxAge` is always sent. Pure. */
export function lookupRequest(
  { grant, phoneNumber, reading }: LookupWriting,
  lookup: Lookup,
  number: PhoneNumber,
): LookupRequestParts {
  const { place, form } = phoneNumber;
  const window = windowOf(lookup, reading);
  if (!sendsPhoneNumber({ grant, phoneNumber }))
    return { headers: [], body: JSON.stringify(window) };
  const written = writeNumber(number, form);
  switch (place.in) {
    case 'body':
      return {
        headers: [],
        body: JSON.stringify({ [reading.members.phoneNumber]: written, ...window }),
      };
    case 'header':
      return { headers: [place.name, written], body: JSON.stringify(window) };
  }
}

/** Whether the lookups of an operator name the number beside the token. Pure. */
export function sendsPhoneNumber({
  grant,
  phoneNumber,
}: Pick<LookupWriting, 'grant' | 'phoneNumber'>): boolean {
  switch (phoneNumber.send) {
    case 'always':
      return true;
    case 'never':
      return false;
    case 'auto':
      return !isToldByToken(grant);
  }
}

/** Whether the API knows the number by the token: then CAMARA 2 answers 422 to one that is named beside it. */
function isToldByToken({ type }: LookupWriting['grant']): boolean {
  switch (type) {
    // Its `username` binds the token in ways of each operator's own; docs/operator-api.md, "The date", names both.
    case 'client_credentials':
      return false;
    case 'jwt-bearer':
    case 'ciba':
      return true;
  }
}

const HOUR_SECONDS = 3600;

function windowOf(
  lookup: Lookup,
  { members, maxAgeUnit }: ReadingSettings,
): Readonly<Partial<Record<LookupMembers['maxAge'], number>>> {
  switch (lookup.operation) {
    case 'retrieve-date':
      return {};
    case 'check':
      return { [members.maxAge]: lookup.maxAgeHours * UNIT_OF_HOUR[maxAgeUnit] };
  }
}

const UNIT_OF_HOUR: Readonly<Record<ReadingSettings['maxAgeUnit'], number>> = {
  hours: 1,
  seconds: HOUR_SECONDS,
};
