import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { createSecureContext, type SecureContextOptions } from 'node:tls';

export interface ConnectionTexts {
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
  readonly passphrase?: string | undefined;
  readonly ca?: string | undefined;
  readonly proxyCredentials?: string | undefined;
  readonly proxyCa?: string | undefined;
}

export interface ConnectionMaterial {
  readonly tls: SecureContextOptions;
  readonly proxyTls: SecureContextOptions;
  /** The value of `proxy-authorization`; `undefined` where the proxy asks for none. */
  readonly proxyAuthorization: string | undefined;
  /** Our own certificate's, milliseconds since 1970; `undefined` where there is none. */
  readonly validity: { readonly fromMs: number; readonly untilMs: number } | undefined;
}

/** Material, or in what way it cannot be used: words for people, without contents. */
export type ReadMaterial =
  | { readonly kind: 'read'; readonly material: ConnectionMaterial }
  | { readonly kind: 'flawed'; readonly flaw: string };

/** RFC 9325 §3.1.1. */
const MIN_VERSION = 'TLSv1.2';

/** Reads what the files hold, and whether it fits together. Pure. */
export function readMaterial(texts: ConnectionTexts): ReadMaterial {
  try {
    return { kind: 'read', material: materialOf(texts) };
  } catch (error) {
    if (error instanceof Flaw) return { kind: 'flawed', flaw: error.message };
    throw error;
  }
}

function materialOf(texts: ConnectionTexts): ConnectionMaterial {
  const { certificate, key, passphrase, ca, proxyCa, proxyCredentials } = texts;
  const validity = certificate === undefined ? undefined : validityOf(certificate, texts);
  if (ca !== undefined) certificatesOf('the CA file', ca);
  if (proxyCa !== undefined) certificatesOf("the proxy's CA file", proxyCa);
  const tls = {
    minVersion: MIN_VERSION,
    ...(certificate === undefined ? {} : { cert: certificate }),
    ...(key === undefined ? {} : { key }),
    ...(passphrase === undefined ? {} : { passphrase }),
    ...(ca === undefined ? {} : { ca }),
  } as const;
  const proxyTls = {
    minVersion: MIN_VERSION,
    ...(proxyCa === undefined ? {} : { ca: proxyCa }),
  } as const;
  // The first context of a process takes a while, and may not be needed.
  if (certificate !== undefined || ca !== undefined) checkContext('the TLS files hold', tls);
  if (proxyCa !== undefined) checkContext("the proxy's CA file holds", proxyTls);
  return {
    tls,
    proxyTls,
    proxyAuthorization:
      proxyCredentials === undefined ? undefined : basicAuthorization(proxyCredentials),
    validity,
  };
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

/** All certificates of a file. One that is cut would be passed over by OpenSSL, and what it signs be refused. */
function certificatesOf(file: string, pem: string): readonly X509Certificate[] {
  const blocks = pem.match(CERTIFICATE) ?? [];
  const begun = pem.split('-----BEGIN CERTIFICATE-----').length - 1;
  if (blocks.length === 0 || blocks.length !== begun) {
    throw new Flaw(begun > 0 ? `${file} is cut off` : `${file} holds no certificate in PEM`);
  }
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch {
    throw new Flaw(`${file} holds what is not a certificate`);
  }
}

/** What OpenSSL refuses beside that: a key that is too short for its level of security, perhaps. */
function checkContext(what: string, options: SecureContextOptions): void {
  try {
    createSecureContext(options);
  } catch {
    throw new Flaw(`${what} what OpenSSL refuses`);
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
