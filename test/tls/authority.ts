import type { TlsOptions } from 'node:tls';
import { createCertificate, type Certificate, type CertificateWish } from './certificate.ts';

/** An authority that is trusted only by a setting. */
export class Authority {
  readonly name: string;
  readonly certificate: Certificate;

  constructor(name: string) {
    this.name = name;
    this.certificate = createCertificate({ name });
  }

  /** In PEM. */
  get pem(): string {
    return this.certificate.cert;
  }

  issue(wish: Omit<CertificateWish, 'signedBy'> = {}): Certificate {
    return createCertificate({ ...wish, signedBy: { ...this.certificate, name: this.name } });
  }
}

/** The options of a server that requires a client certificate of an authority. */
export function demanding(server: Certificate, clients: Authority): Certificate & TlsOptions {
  return { ...server, ca: clients.pem, requestCert: true, rejectUnauthorized: true };
}
