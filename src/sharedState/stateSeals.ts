import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  randomBytes,
  type KeyObject,
} from 'node:crypto';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Names are keyed hashes, so that no number can be found by trying all, and values are encrypted (AES-256-GCM). */
export class StateSeal {
  readonly #nameKey: KeyObject;
  readonly #valueKey: KeyObject;

  /** @param stateKey 32 bytes, STATE_KEY; what is used is derived from it (HKDF, RFC 5869) */
  constructor(stateKey: Uint8Array) {
    this.#nameKey = derive(stateKey, 'names');
    this.#valueKey = derive(stateKey, 'values');
  }

  /** The name of these parts under this key; other parts, or another key, have another name. */
  name(...parts: readonly string[]): string {
    return createHmac('sha256', this.#nameKey).update(JSON.stringify(parts)).digest('base64url');
  }

  /** Encrypts a text for one place: it cannot be opened in another. */
  seal(text: string, place: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#valueKey, nonce).setAAD(Buffer.from(place));
    const sealed = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()];
    return Buffer.concat(sealed).toString('base64');
  }

  /** @throws when it was sealed for another place or with another key, or was changed since */
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

/** 32 bytes each: the current key, and the one that it replaces or that will replace it. */
export type StateKeys = readonly [Uint8Array, ...Uint8Array[]];

/**
 * The first, current one names and seals what is written. Names by any of them are found, and changed to the name by
 * the first one: replicas may have the same keys in another order.
 */
export class StateSeals {
  readonly all: readonly [StateSeal, ...StateSeal[]];

  constructor([first, ...others]: StateKeys) {
    this.all = [new StateSeal(first), ...others.map((key) => new StateSeal(key))];
  }

  get current(): StateSeal {
    return this.all[0];
  }

  /** Opens with any of the keys; `undefined` where none fits. A place has a name under each seal. */
  openJson(sealed: string, placeOf: (seal: StateSeal) => string): unknown {
    for (const seal of this.all) {
      try {
        return JSON.parse(seal.open(sealed, placeOf(seal)));
      } catch {
        continue;
      }
    }
    return undefined;
  }
}

/**
 * A script's first step, in Lua: a key that another STATE_KEY named is renamed to its current name. The script's own
 * keys come first, and then the same ones as each other STATE_KEY names them.
 */
export function adoptRenamed(keys: number): string {
  return `
for i = ${keys + 1}, #KEYS do
  local current = KEYS[(i - 1) % ${keys} + 1]
  if redis.call('EXISTS', current) == 0 and redis.call('EXISTS', KEYS[i]) == 1 then
    redis.call('RENAME', KEYS[i], current)
  end
end
`;
}

/** A KeyObject: with a Buffer each HMAC and cipher first creates one, at four times the cost. */
function derive(stateKey: Uint8Array, purpose: string): KeyObject {
  const bytes = hkdfSync('sha256', stateKey, '', `sim-swap consents: ${purpose}`, 32);
  return createSecretKey(Buffer.from(bytes));
}
