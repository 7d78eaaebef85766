import type { CallerQuotas, QuotaSettings } from '../caller/quotas/quotas.ts';
import { hasDuplicateMember } from '../http/duplicateMembers.ts';
import { FOR_KNOWN_CALLERS } from './callers.ts';
import type { EnvironmentReader } from './environment.ts';
import { SETTINGS } from './settings.ts';

const CLIENTS_NAME = 'QUOTA_CLIENTS';
/** Of all clients' quotas. */
const BOUNDS = SETTINGS.QUOTA_NUMBERS_PER_HOUR;

/** What may be set for a client, in the order in which messages name it. */
const CALLER_QUOTAS = ['numbersPerHour', 'lookupsPerHour', 'promptsPerHour'] as const;

/** Reads how much may be asked in an hour. Quotas of clients are for callers that are known. */
export function readQuotas(read: EnvironmentReader, areCallersKnown: boolean): QuotaSettings {
  const clients = readClients(read);
  if (clients.size > 0 && !areCallersKnown) read.problem(CLIENTS_NAME, FOR_KNOWN_CALLERS);
  return {
    numbersPerHour: read.integer('QUOTA_NUMBERS_PER_HOUR'),
    lookupsPerHour: read.integer('QUOTA_LOOKUPS_PER_HOUR'),
    promptsPerHour: read.integer('QUOTA_PROMPTS_PER_HOUR'),
    promptsPerHourAllCallers: read.integer('QUOTA_PROMPTS_PER_HOUR_ALL_CALLERS'),
    clients,
  };
}

function readClients(read: EnvironmentReader): ReadonlyMap<string, Partial<CallerQuotas>> {
  const text = read.text(CLIENTS_NAME);
  const clients = membersOf(parseJson(text));
  const members = clients?.map(([client, quotas]) => [client, membersOf(quotas)] as const) ?? [];
  if (clients === undefined || members.some(([, quotas]) => quotas === undefined)) {
    read.problem(
      CLIENTS_NAME,
      `must be a JSON object of client ids, each with an object of ${CALLER_QUOTAS.join(', ')}`,
    );
    return new Map();
  }
  // JSON.parse takes the last of two and says nothing: the other may be the one that was meant.
  if (hasDuplicateMember(text)) read.problem(CLIENTS_NAME, 'has a member twice');
  return new Map(
    members.map(([client, quotas]) => [client, readCallerQuotas(read, client, quotas ?? [])]),
  );
}

function readCallerQuotas(
  read: EnvironmentReader,
  client: string,
  members: readonly (readonly [string, unknown])[],
): Partial<CallerQuotas> {
  const quoted = JSON.stringify(client);
  if (client === '') read.problem(CLIENTS_NAME, 'has a client without a name');
  if (members.length === 0) read.problem(CLIENTS_NAME, `sets no quota for the client ${quoted}`);
  const quotas: Partial<Record<keyof CallerQuotas, number>> = {};
  for (const [member, value] of members) {
    const quota = CALLER_QUOTAS.find((one) => one === member);
    if (quota === undefined) {
      const known = CALLER_QUOTAS.join(', ');
      const unknown = `${JSON.stringify(member)} for the client ${quoted}`;
      read.problem(CLIENTS_NAME, `has ${unknown}, which is not one of ${known}`);
    } else if (!isWithinBounds(value)) {
      const { min, max } = BOUNDS;
      read.problem(CLIENTS_NAME, `must have whole numbers from ${min} to ${max}`);
    } else {
      quotas[quota] = value;
    }
  }
  return quotas;
}

function isWithinBounds(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= BOUNDS.min && Number(value) <= BOUNDS.max;
}

function membersOf(value: unknown): readonly (readonly [string, unknown])[] | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? Object.entries(value) : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
