import type { OperatorSettings } from '../../../src/operator/operatorSettings.ts';
import type { Deviation } from './deviatingOperator.ts';

export const AS_DOCUMENTED: Deviation = (settings) => settings;

/** One deviation after the other. */
export const all =
  (...deviations: readonly Deviation[]): Deviation =>
  (settings) =>
    deviations.reduce((changed, deviation) => deviation(changed), settings);

export const withGrant =
  (grant: object): Deviation =>
  (settings) =>
    ({ ...settings, grant: { ...settings.grant, ...grant } }) as OperatorSettings;

export const withCorrelator =
  (correlator: Partial<OperatorSettings['correlator']>): Deviation =>
  (settings) => ({ ...settings, correlator: { ...settings.correlator, ...correlator } });

export const withErrors =
  (errors: Partial<OperatorSettings['errors']>): Deviation =>
  (settings) => ({ ...settings, errors: { ...settings.errors, ...errors } });
