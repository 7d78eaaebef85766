import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { slept, type Clock } from '../system/clock.ts';
import { follow, type Reread } from '../system/fromFiles.ts';
import { readTextIfThere } from '../system/textFile.ts';
import type { FileTexts } from '../system/watchedFiles.ts';
import type { Log } from '../log/log.ts';
import type { ConnectionSettings, TextSource } from './wireSettings.ts';

const DAY_MS = 24 * 3_600_000;

const WARN_BEFORE_MS = 14 * DAY_MS;

export interface ConnectionFilesParts {
  readonly clock: Pick<Clock, 'nowMs' | 'sleep'>;
  readonly log: Log;
}

/** The TLS material of connections, read from files that may change. */
export class ConnectionFiles {
  readonly settings: ConnectionSettings;
  readonly #parts: ConnectionFilesParts;
  readonly #unfollow: () => void;
  readonly #listeners = new Set<() => void>();
  readonly #closing = new AbortController();
  /** `undefined` until the files can be used. A new object whenever they have changed. */
  material: ConnectionMaterial | undefined;
  /** The flaw of the files as they were first, or of the present material, without their contents. */
  flaw: string | undefined;

  constructor(settings: ConnectionSettings, parts: ConnectionFilesParts) {
    this.settings = settings;
    this.#parts = parts;
    const { tls, proxy } = settings;
    const sources = [tls?.certificate, tls?.key, tls?.passphrase, tls?.ca];
    const paths = [...sources, proxy?.credentials, proxy?.ca].flatMap((source) =>
      source?.kind === 'file' ? [source.path] : [],
    );
    const texts = new Map(paths.map((path) => [path, readTextIfThere(path)] as const));
    const first = this.#read(texts);
    if (first.kind === 'read') this.#use(first.value);
    else this.flaw = first.flaw;
    const again = { texts, read: (now: FileTexts) => this.#read(now) };
    this.#unfollow = follow(again, parts, (material) => {
      this.#use(material);
      for (const listener of this.#listeners) listener();
    });
    if (tls?.certificate !== undefined) void this.#reportValidityEachDay();
  }

  /** Calls the listener whenever the material changes. Returns a function that unsubscribes. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#closing.abort();
    this.#unfollow();
    this.#listeners.clear();
  }

  /** A certificate that is out of date replaces none that is valid. */
  #read(texts: FileTexts): Reread<ConnectionMaterial> {
    const read = readMaterial(textsOf(this.settings, texts));
    if (read.kind === 'flawed') {
      if (this.material === undefined) this.#parts.log.error(NOT_USABLE, { flaw: read.flaw });
      return read;
    }
    const flaw = this.#validityFlaw(read.value);
    const isValid = this.material !== undefined && this.#validityFlaw(this.material) === undefined;
    return flaw !== undefined && isValid ? { kind: 'flawed', flaw } : read;
  }

  #use(material: ConnectionMaterial): void {
    this.material = material;
    this.flaw = this.#validityFlaw(material);
    this.#reportValidity();
  }

  #validityFlaw({ validity }: ConnectionMaterial): string | undefined {
    if (validity === undefined) return undefined;
    const { fromMs, untilMs } = validity;
    const nowMs = this.#parts.clock.nowMs();
    if (nowMs >= untilMs) {
      return `the certificate has expired (days ago: ${daysOf(nowMs - untilMs)})`;
    }
    return nowMs < fromMs
      ? `the certificate is not valid yet (days to go: ${daysOf(fromMs - nowMs)})`
      : undefined;
  }

  /** An out-of-date certificate is used where there is no better one: servers judge it by their own clocks. */
  #reportValidity(): void {
    const { validity } = this.material ?? {};
    if (this.material === undefined || validity === undefined) return;
    const { clock, log } = this.#parts;
    const flaw = this.#validityFlaw(this.material);
    const leftMs = validity.untilMs - clock.nowMs();
    if (flaw !== undefined) {
      log.error('Our client certificate is not valid now: most servers refuse it. Replace it.', {
        flaw,
      });
    } else if (leftMs <= WARN_BEFORE_MS) {
      log.warn('Our client certificate expires soon. Replace it.', { daysLeft: daysOf(leftMs) });
    }
  }

  async #reportValidityEachDay(): Promise<void> {
    const { signal } = this.#closing;
    while (await slept(this.#parts.clock, DAY_MS, signal)) this.#reportValidity();
  }
}

const NOT_USABLE =
  'The TLS or proxy files cannot be used: no connection is made until they are fixed.';

function textsOf({ tls, proxy }: ConnectionSettings, texts: FileTexts) {
  // A file that cannot be read counts as empty: its flaw is reported.
  const textOf = (source: TextSource | undefined): string | undefined =>
    source?.kind === 'file' ? (texts.get(source.path) ?? '') : source?.text;
  const line = (source: TextSource | undefined) => textOf(source)?.replace(/\r?\n$/, '');
  return {
    certificate: textOf(tls?.certificate),
    key: textOf(tls?.key),
    passphrase: line(tls?.passphrase),
    ca: textOf(tls?.ca),
    proxyCredentials: line(proxy?.credentials),
    proxyCa: textOf(proxy?.ca),
  };
}

/** In whole days. Dates would be masked in the log, since they look like phone numbers. */
function daysOf(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

export type ConnectionTexts = Partial<ReturnType<typeof textsOf>>;

export interface ConnectionMaterial {
  readonly tls: SecureContextOptions;
  readonly proxyTls: SecureContextOptions;
  /** The value of `proxy-authorization`; `undefined` where the proxy requires none. */
  readonly proxyAuthorization: string | undefined;
  /** The validity of our certificate, in milliseconds since 1970; `undefined` without one. */
  readonly validity: { readonly fromMs: number; readonly untilMs: number } | undefined;
}

/** The lowest version of TLS (RFC 9325 §3.1.1). */
const MIN_VERSION = 'TLSv1.2';

/** Also checks that the files fit together. Pure. */
export function readMaterial(texts: ConnectionTexts): Reread<ConnectionMaterial> {
  try {
    return { kind: 'read', value: materialOf(texts) };
  } catch (error) {
    if (!(error instanceof Flaw)) throw error;
    return { kind: 'flawed', flaw: error.message };
  }
}

function materialOf(texts: ConnectionTexts): ConnectionMaterial {
  const { certificate, key, passphrase, ca, proxyCa, proxyCredentials } = texts;
  const validity = certificate === undefined ? undefined : validityOf(certificate, texts);
  if (ca !== undefined) certificatesOf('the CA file', ca);
  if (proxyCa !== undefined) certificatesOf("the proxy's CA file", proxyCa);
  const tls = { minVersion: MIN_VERSION, cert: certificate, key, passphrase, ca } as const;
  const proxyTls = { minVersion: MIN_VERSION, ca: proxyCa } as const;
  // The first context of a process takes long to make, and may not be needed.
  if (certificate !== undefined || ca !== undefined) checkContext('the TLS files hold', tls);
  if (proxyCa !== undefined) checkContext("the proxy's CA file holds", proxyTls);
  const proxyAuthorization =
    proxyCredentials === undefined ? undefined : basicAuthorization(proxyCredentials);
  return { tls, proxyTls, proxyAuthorization, validity };
}

function validityOf(
  certificate: string,
  { key = '', passphrase }: ConnectionTexts,
): ConnectionMaterial['validity'] {
  const [own] = certificatesOf('the certificate file', certificate);
  if (own === undefined) throw new Flaw('the certificate file holds no certificate in PEM');
  if (!own.checkPrivateKey(privateKeyOf(key, passphrase))) {
    throw new Flaw('the certificate is of another key than that of the key file');
  }
  return { fromMs: own.validFromDate.getTime(), untilMs: own.validToDate.getTime() };
}

function privateKeyOf(key: string, passphrase: string | undefined): KeyObject {
  try {
    return createPrivateKey({ key, ...(passphrase === undefined ? {} : { passphrase }) });
  } catch {
    throw new Flaw(
      /ENCRYPTED/.test(key)
        ? 'the key file holds an encrypted key that the passphrase does not open'
        : 'the key file holds no private key in PEM',
    );
  }
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** OpenSSL would skip a truncated certificate, and refuse what it signs. */
function certificatesOf(file: string, pem: string): readonly X509Certificate[] {
  const blocks = pem.match(CERTIFICATE) ?? [];
  const begun = pem.split('-----BEGIN CERTIFICATE-----').length - 1;
  if (blocks.length === 0 || blocks.length !== begun) {
    throw new Flaw(begun > 0 ? `${file} is cut off` : `${file} holds no certificate in PEM`);
  }
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch {
    throw new Flaw(`${file} contains something other than a certificate`);
  }
}

/** Other refusals by OpenSSL, such as a key too short for its security level. */
function checkContext(what: string, options: SecureContextOptions): void {
  try {
    createSecureContext(options);
  } catch {
    throw new Flaw(`${what} something that OpenSSL refuses`);
  }
}

/** RFC 7617 §2: the user has no colon in it. */
function basicAuthorization(credentials: string): string {
  if (!/^[^:\r\n]+:[^\r\n]*$/.test(credentials)) {
    throw new Flaw("the proxy's credentials are not one line of user:password");
  }
  return `Basic ${Buffer.from(credentials).toString('base64')}`;
}

class Flaw extends Error {
  override readonly name = 'Flaw';
}
