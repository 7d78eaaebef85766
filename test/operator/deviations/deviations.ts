import type { OperatorSettings } from '../../../src/operator/operatorSettings.ts';
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
  grant: { type: 'client_credentials', inQuery: [] },
});

export const withNumber =
  (phoneNumber: Partial<OperatorSettings['phoneNumber']>): Deviation =>
  (settings) => ({ ...settings, phoneNumber: { ...settings.phoneNumber, ...phoneNumber } });

export const withReading =
  (reading: Partial<OperatorSettings['reading']>): Deviation =>
  (settings) => ({ ...settings, reading: { ...settings.reading, ...reading } });

export const withMembers =
  (members: Partial<OperatorSettings['reading']['members']>): Deviation =>
  (settings) =>
    withReading({ members: { ...settings.reading.members, ...members } })(settings);

export const withCorrelator =
  (correlator: Partial<OperatorSettings['correlator']>): Deviation =>
  (settings) => ({ ...settings, correlator: { ...settings.correlator, ...correlator } });

export const withErrors =
  (errors: Partial<OperatorSettings['errors']>): Deviation =>
  (settings) => ({ ...settings, errors: { ...settings.errors, ...errors } });
