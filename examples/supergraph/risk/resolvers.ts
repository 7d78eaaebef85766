/** The window of `@requires` in schema.graphql. */
const WINDOW_HOURS = 720;

/** What the router sends: the key, and what `@requires` names. */
interface PhoneNumberReference {
  readonly e164: string;
  /** Not there where the SIM swap subgraph answered with an error, and where the router has lost it. */
  readonly simSwapCheck?: {
    /** A later version of the SIM swap subgraph may have more results. */
    readonly result?: string;
    readonly windowHours?: number;
  } | null;
}

/**
 * Unknown is never good: what is not known counts like a swap. So does a check of a shorter window, which
 * gateways send when the client queries `simSwapCheck` with that window in the same operation.
 */
function riskScore({ simSwapCheck }: PhoneNumberReference): number {
  const { result, windowHours = 0 } = simSwapCheck ?? {};
  return result === 'NOT_SWAPPED' && windowHours >= WINDOW_HOURS ? 10 : 90;
}

export const resolvers = {
  PhoneNumber: {
    __resolveReference: (reference: PhoneNumberReference) => reference,
    riskScore,
  },
};
