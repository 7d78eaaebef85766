/** Who is signed in, as the desk's server says. */
export interface Session {
  /** Of the person, and not of the session. */
  readonly id: string;
  readonly name: string;
  readonly roles: readonly string[];
  /** Whether lists may be checked. The service enforces it; the page only does not offer it. */
  readonly mayBatch: boolean;
  /** What a lookup costs at most, where the desk knows it. */
  readonly lookupPrice: { readonly amount: number; readonly currency: string } | null;
  readonly purposes: readonly { readonly id: string; readonly label: string }[];
  readonly csrfToken: string;
}

/** What the server says of the session. */
export type SessionReply =
  | { readonly kind: 'signedIn'; readonly session: Session }
  | { readonly kind: 'signedOut' }
  | { readonly kind: 'unreachable' };

export async function readSession(): Promise<SessionReply> {
  try {
    const response = await fetch('/session', { headers: { accept: 'application/json' } });
    if (!response.ok) return { kind: 'unreachable' };
    const session = (await response.json()) as Session | null;
    return session === null ? { kind: 'signedOut' } : { kind: 'signedIn', session };
  } catch {
    return { kind: 'unreachable' };
  }
}

/** Ends the session; the address to go to then. */
export async function signOut({ csrfToken }: Session): Promise<string> {
  try {
    const headers = { 'x-csrf-token': csrfToken };
    const response = await fetch('/sign-out', { method: 'POST', headers });
    const { location } = (await response.json()) as { location?: string };
    return location ?? '/';
  } catch {
    return '/';
  }
}
