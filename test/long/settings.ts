/** As many prompts as a long run makes. */
export const UNLIMITED_PROMPTS: Readonly<Record<string, string>> = {
  QUOTA_PROMPTS_PER_HOUR: '999999999',
  QUOTA_PROMPTS_PER_HOUR_ALL_CALLERS: '999999999',
};

/** Consents that are over soon, so that a run of minutes has many for each number. */
export const SHORT_CONSENTS: Readonly<Record<string, string>> = {
  CONSENT_DOUBT_SECONDS: '1',
  CONSENT_DENIED_SECONDS: '1',
  CONSENT_FAILURE_SECONDS: '1',
  CONSENT_RESULT_SECONDS: '10',
};

/** The settings of a server that calls the operator of a long run. */
export function callingOperator(
  operatorUrl: string,
  flow: '2-legged' | '3-legged',
): Readonly<Record<string, string>> {
  return {
    OPERATOR_AUTH_URL: operatorUrl,
    OPERATOR_SIM_SWAP_URL: operatorUrl,
    OPERATOR_CLIENT_ID: 'long-run',
    OPERATOR_CLIENT_SECRET: 'long-run',
    OPERATOR_FLOW: flow,
    ...UNLIMITED_PROMPTS,
    ...SHORT_CONSENTS,
  };
}
