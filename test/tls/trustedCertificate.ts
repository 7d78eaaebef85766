import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { createCertificate, type Certificate } from './certificate.ts';

/** Makes a certificate that TLS connections of this thread trust from now on. */
export function trustedCertificate(): Certificate {
  const certificate = createCertificate();
  setDefaultCACertificates([...getCACertificates('default'), certificate.cert]);
  return certificate;
}
