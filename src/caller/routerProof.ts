import { hash, timingSafeEqual } from 'node:crypto';

/** The header by which a router shows that a request comes from it. */
export const ROUTER_SECRET_HEADER = 'x-router-secret';

/** Tells the router from all other clients, by a secret that the two share. */
export class RouterProof {
  readonly #digests: readonly Buffer[];

  /** All of the secrets count: two do while one takes the other's place. */
  constructor(secrets: readonly string[]) {
    this.#digests = secrets.map(digest);
  }

  /** Takes as long for a secret that is nearly right as for one that is not. */
  accepts(presented: string | undefined): boolean {
    const given = digest(presented ?? '');
    const matches = this.#digests.map((one) => timingSafeEqual(one, given));
    return presented !== undefined && matches.includes(true);
  }
}

/** Of equal length whatever the secret's, as the comparison needs it. */
function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
