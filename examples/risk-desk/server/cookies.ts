/** The cookies of the desk: none is ever readable by a script, nor sent by another site's form. */
export class DeskCookies {
  readonly #prefix: string;
  readonly #attributes: string;

  /** @param origin over https a cookie is bound to this host and to https (RFC 6265bis §4.1.3.2, `__Host-`) */
  constructor(origin: string) {
    const isSecure = origin.startsWith('https:');
    this.#prefix = isSecure ? '__Host-' : '';
    this.#attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  }

  /** The cookie of this name; `undefined` without one, or with two: then one of them is not ours. */
  read(header: string | undefined, name: string): string | undefined {
    const start = `${this.#prefix}${name}=`;
    const found = (header ?? '')
      .split(';')
      .map((pair) => pair.trim())
      .filter((pair) => pair.startsWith(start));
    return found.length === 1 ? found[0]?.slice(start.length) : undefined;
  }

  /** Lasts as long as the browser runs, or so many seconds if that is less. */
  set(name: string, value: string, maxAgeSeconds?: number): string {
    const maxAge = maxAgeSeconds === undefined ? '' : `; Max-Age=${maxAgeSeconds}`;
    return `${this.#prefix}${name}=${value}; ${this.#attributes}${maxAge}`;
  }

  clear(name: string): string {
    return this.set(name, '', 0);
  }
}
