/** Who is signed in, as the desk's server tells. */
export interface Session {
  /** Of the person, and not of the session. */
  readonly id: string;
  readonly name: string;
  readonly roles: readonly string[];
  /** Whether a list may be asked about. The service enforces it; the page only does not offer it. */
  readonly mayBatch: boolean;
  readonly purposes: readonly { readonly id: string; readonly label: string }[];
  readonly csrfToken: string;
}

/** What the server says of the session. */
export type SessionReply =
  | { readonly kind: 'signedIn'; readonly session: Session }
  | { readonly kind: 'signedOut' }
  | { readonly kind: 'unreachable' };

const UNAUTHENTICATED_STATUS = 401;

export async function readSession(): Promise<SessionReply> {
  try {
    const response = await fetch('/session', { headers: { accept: 'application/json' } });
    if (response.status === UNAUTHENTICATED_STATUS) return { kind: 'signedOut' };
    if (!response.ok) return { kind: 'unreachable' };
    return { kind: 'signedIn', session: (await response.json()) as Session };
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
