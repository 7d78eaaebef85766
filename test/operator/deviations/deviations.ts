import type { OperatorSettings } from '../../../src/operator/operatorSettings.ts';
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

export const withCorrelator =
  (correlator: Partial<OperatorSettings['correlator']>): Deviation =>
  (settings) => ({ ...settings, correlator: { ...settings.correlator, ...correlator } });

export const withErrors =
  (errors: Partial<OperatorSettings['errors']>): Deviation =>
  (settings) => ({ ...settings, errors: { ...settings.errors, ...errors } });
