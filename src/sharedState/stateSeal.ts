import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Keeps what a shared store holds secret from any other reader of the store: names are keyed
 * hashes, so that no number can be found by trying all, and values are encrypted (AES-256-GCM).
 */
export class StateSeal {
  readonly #nameKey: Buffer;
  readonly #valueKey: Buffer;

  /** @param stateKey 32 bytes, STATE_KEY; what is used is derived from it (HKDF, RFC 5869) */
  constructor(stateKey: Uint8Array) {
    this.#nameKey = derive(stateKey, 'names');
    this.#valueKey = derive(stateKey, 'values');
  }

  /** The same parts have the same name; other parts, or another key, have another. */
  name(...parts: readonly string[]): string {
    return createHmac('sha256', this.#nameKey).update(JSON.stringify(parts)).digest('base64url');
  }

  /** Encrypts a text for one place: moved to another it opens no more. */
  seal(text: string, place: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#valueKey, nonce).setAAD(Buffer.from(place));
    const sealed = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()];
    return Buffer.concat(sealed).toString('base64');
  }

  /** @throws when it was sealed for another place, with another key, or changed since */
  open(sealed: string, place: string): string {
    const bytes = Buffer.from(sealed, 'base64');
    const nonce = bytes.subarray(0, NONCE_BYTES);
    const decipher = createDecipheriv('aes-256-gcm', this.#valueKey, nonce, {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(Buffer.from(place)).setAuthTag(bytes.subarray(-TAG_BYTES));
    const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
    return Buffer.concat([text, decipher.final()]).toString('utf8');
  }
}

function derive(stateKey: Uint8Array, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', stateKey, '', `sim-swap consents: ${purpose}`, 32));
}
