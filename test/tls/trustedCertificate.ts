import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { createCertificate, type Certificate } from './certificate.ts';

// One for all files of a worker: of two authorities with one name, OpenSSL uses the first.
const CERTIFICATE = createCertificate();
setDefaultCACertificates([...getCACertificates('default'), CERTIFICATE.cert]);

/** A certificate that TLS connections of this thread trust. */
export function trustedCertificate(): Certificate {
  return CERTIFICATE;
}
