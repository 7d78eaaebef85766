/** The graph that the other servers serve: what ours serves, as far as the workloads ask for it. */
export const TYPE_DEFS = /* GraphQL */ `
  type PhoneNumber {
    e164: ID!
    lastSimSwap: String
    simSwappedWithin(maxAgeHours: Int! = 240): Boolean
  }

  type Query {
    phoneNumbers(e164s: [ID!]!): [PhoneNumber]!
  }
`;

/** A number on its way to its fields. */
export interface NumberSource {
  readonly e164: string;
}

export const phoneNumbers = (
  _root: unknown,
  { e164s }: { e164s: readonly string[] },
): NumberSource[] => e164s.map((e164) => ({ e164 }));

/** How the operator knows every contestant. */
export const CLIENT = { id: 'bench', secret: 'bench-secret' };

export const CLIENT_AUTHORIZATION = `Basic ${Buffer.from(`${CLIENT.id}:${CLIENT.secret}`).toString('base64')}`;

export const SCOPES = {
  check: 'sim-swap:check',
  'retrieve-date': 'sim-swap:retrieve-date',
} as const;

/** The form of a token request. */
export function tokenForm(number: string, operation: keyof typeof SCOPES): string {
  return new URLSearchParams({
    grant_type: 'client_credentials',
    username: `tel:${number}`,
    scope: SCOPES[operation],
  }).toString();
}
