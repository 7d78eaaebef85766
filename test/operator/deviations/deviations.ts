import type { OperatorSettings } from '../../../src/operator/operatorSettings.ts';
import type { DateReading, LookupProfile, Pointer } from '../../../src/domain/profile.ts';
import { WITHOUT_NUMBER } from '../camara.ts';
import type { Deviation } from './deviatingOperator.ts';

export const AS_DOCUMENTED: Deviation = (settings) => settings;

export const withScopes =
  (scopes: Partial<OperatorSettings['scopes']>): Deviation =>
  (settings) => ({ ...settings, scopes: { ...settings.scopes, ...scopes } });

/** One deviation after the other. */
export const all =
  (...deviations: readonly Deviation[]): Deviation =>
  (settings) =>
    deviations.reduce((changed, deviation) => deviation(changed), settings);

export const withGrant =
  (grant: object): Deviation =>
  (settings) =>
    ({ ...settings, grant: { ...settings.grant, ...grant } }) as OperatorSettings;

export const WITHOUT_USERNAME: Deviation = (settings) => ({
  ...settings,
  flow: '2-legged',
  grant: WITHOUT_NUMBER,
});

/** How the number is named: in a header in place of the body, or as digits. */
export const withNumber =
  ({ send, header, form }: NumberDeviation): Deviation =>
  (settings) => ({
    ...rewritten(settings, (write) => (ask) => {
      const number = form === 'digits' ? ask.digits : ask.number;
      const written = write({ ...ask, number });
      if (header === undefined) return written;
      const { phoneNumber: _moved, ...body } = { phoneNumber: undefined, ...written.body };
      return { ...written, headers: { [header]: number }, body };
    }),
    ...(send === undefined ? {} : { sendPhoneNumber: send }),
  });

interface NumberDeviation {
  readonly send?: OperatorSettings['sendPhoneNumber'];
  readonly header?: string;
  readonly form?: 'digits';
}

/** How `check` names its window. */
export const IN_SECONDS: Deviation = (settings) =>
  rewritten(
    settings,
    (write) => (ask) =>
      write({
        ...ask,
        maxAgeHours: ask.maxAgeHours === undefined ? undefined : ask.maxAgeHours * 3600,
      }),
  );

/** How a date is read. */
export const withDate =
  (date: Partial<DateReading>): Deviation =>
  (settings) => {
    const { 'retrieve-date': own, ...others } = settings.lookups;
    if (own?.read.date === undefined) throw new Error('It has no date.');
    const read = { ...own.read, date: { ...own.read.date, ...date } };
    return { ...settings, lookups: { ...others, 'retrieve-date': { ...own, read } } };
  };

/** Where `swapped` of a check is read. */
export const swappedAt =
  (at: Pointer): Deviation =>
  (settings) => {
    const { check, ...others } = settings.lookups;
    if (check?.read.swapped === undefined) throw new Error('It has no check.');
    const read = { ...check.read, swapped: { ...check.read.swapped, at } };
    return { ...settings, lookups: { ...others, check: { ...check, read } } };
  };

type Write = LookupProfile['write'];

function rewritten(settings: OperatorSettings, change: (write: Write) => Write): OperatorSettings {
  const lookups = Object.fromEntries(
    Object.entries(settings.lookups).map(([operation, lookup]) => [
      operation,
      lookup && { ...lookup, write: change(lookup.write) },
    ]),
  );
  return { ...settings, lookups };
}

export const withCorrelator =
  (correlator: Partial<OperatorSettings['correlator']>): Deviation =>
  (settings) => ({ ...settings, correlator: { ...settings.correlator, ...correlator } });

export const withErrors =
  (errors: Partial<OperatorSettings['errors']>): Deviation =>
  (settings) => ({ ...settings, errors: { ...settings.errors, ...errors } });
