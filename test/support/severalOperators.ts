import { AuditLog } from '../../src/caller/audit/auditLog.ts';
import type { AuditEntry } from '../../src/caller/audit/entry.ts';
import { callerAuthorizers } from '../../src/caller/callerAuthorizer.ts';
import { MemoryCounts } from '../../src/caller/quotas/memoryCounts.ts';
import { Quotas, type QuotaSettings } from '../../src/caller/quotas/quotas.ts';
import { type Clock, systemClock } from '../../src/system/clock.ts';
import { readConfig } from '../../src/config/config.ts';
import type { Environment } from '../../src/config/environment.ts';
import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import { createCorrelator } from '../../src/system/correlator.ts';
import type { SimSwapLoader } from '../../src/lookups/executor.ts';
import type { LookupAuthorizers } from '../../src/lookups/lookupAuthorizer.ts';
import type { OperatorSettings } from '../../src/operator/operatorSettings.ts';
import {
  createSimSwaps,
  storesInMemory,
  type SimSwapParts,
  type SimSwaps,
} from '../../src/simSwaps/simSwaps.ts';
import { withoutPauses } from './testClock.ts';
import { callerNamed, OPEN_AUTHORIZER, purposeNamed } from './values.ts';
import { askField } from './askedFields.ts';
import { silentLog } from './silentLog.ts';
import { withEntry } from './operatorEntry.ts';
import { LightAbortSignal } from '../../src/system/urgency.ts';

/** Changes of any members of an operator's settings, whatever its flow. */
export type OperatorChanges = Partial<OperatorSettings>;

export function operatorNamed(
  name: string,
  url: string,
  changes: OperatorChanges = {},
  environment: Environment = {},
): OperatorSettings {
  const [settings] = readConfig(
    withEntry({
      OPERATOR_AUTH_URL: url,
      OPERATOR_SIM_SWAP_URL: url,
      OPERATOR_CLIENT_ID: 'test-client',
      OPERATOR_CLIENT_SECRET: 'test-secret',
      OPERATOR_TIMEOUT_MS: '60000',
      ...environment,
    }),
  ).operators;
  if (settings === undefined) throw new Error('no operator');
  const changed = { ...settings, name, prefixes: [], ...changes };
  // A test that changes the grant changes the flow as well.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return changed as OperatorSettings;
}

/** In memory, without limits and authorization. */
export function simSwapsOf(parts: Partial<SimSwapParts>): SimSwaps {
  const { operators = [], consent = readConfig({}).consent, clock = systemClock } = parts;
  return createSimSwaps({
    operators,
    consent,
    clock,
    directory: undefined,
    stores: storesInMemory(operators, consent, clock),
    admissions: { of: () => OPEN_AUTHORIZER },
    numberLimits: { atWork: Infinity, held: Infinity },
    log: silentLog,
    ...parts,
  });
}

/** Everything below GraphQL, with several operators. */
export class SeveralOperators implements AsyncDisposable {
  readonly simSwaps: SimSwaps;
  readonly #clock: Clock;

  constructor(operators: readonly OperatorSettings[], parts: Partial<SimSwapParts> = {}) {
    this.#clock = parts.clock ?? systemClock;
    this.simSwaps = simSwapsOf({ operators, ...parts });
  }

  request(
    caller = 'caller',
    signal = new LightAbortSignal(),
    timeLeftMs = 60_000,
    patience: { readonly waitMs?: number } = {},
  ): SimSwapLoader {
    const cameInAtMs = this.#clock.monotonicMs();
    return this.simSwaps.forRequest({
      caller: callerNamed(caller),
      purpose: purposeNamed('fraud-prevention'),
      correlator: createCorrelator('asked'),
      cameInAtMs,
      signal,
      deadlineMs: cameInAtMs + timeLeftMs,
      ...patience,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.simSwaps.close();
  }
}

export function auditedInto(
  lines: AuditEntry[],
  clock: Clock = systemClock,
  limits: Partial<QuotaSettings> = {},
): LookupAuthorizers {
  const append = (text: string): Promise<void> => {
    for (const one of text.trim().split('\n')) lines.push(JSON.parse(one) as AuditEntry);
    return Promise.resolve();
  };
  return callerAuthorizers({
    quotas: new Quotas({ ...readConfig({}).quotas, ...limits }, new MemoryCounts(clock), []),
    audit: { auditLog: new AuditLog({ append }, withoutPauses(clock)), key: 'a-key' },
    purposeGoesTo: new Set(),
    clock,
    log: silentLog,
  });
}

/** Whether the SIM was swapped, the date, or the code of a failure. */
export type Short = string | boolean | null;

export interface ShortAnswer {
  readonly code: Short;
  readonly retryAfterSeconds?: number;
}

/** Asks `simSwappedWithin`, or `lastSimSwap` where no window is named. */
export async function short(
  loader: SimSwapLoader,
  number: PhoneNumber,
  maxAgeHours?: number,
): Promise<ShortAnswer> {
  const answer =
    maxAgeHours === undefined
      ? await askField(loader, number, 'lastSimSwap')
      : await askField(loader, number, 'simSwappedWithin', { maxAgeHours });
  switch (answer.kind) {
    case 'date':
      return { code: answer.latestSimChange?.text ?? null };
    case 'window':
      return { code: answer.swapped };
    case 'failure':
      return answer.failure;
    case 'consent':
      throw new Error('Another answer than that of the field.');
  }
}

export async function window(
  loader: SimSwapLoader,
  number: PhoneNumber,
  maxAgeHours = 240,
): Promise<Short> {
  return (await short(loader, number, maxAgeHours)).code;
}

export async function date(loader: SimSwapLoader, number: PhoneNumber): Promise<Short> {
  return (await short(loader, number)).code;
}
