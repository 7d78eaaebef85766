import type { Stage } from './connectionTrace.ts';

/** What to do about a connection that broke: by its code, or else by its stage. Pure. */
export function adviceFor(stage: Stage, code: string): string {
  return BY_CODE.find(([pattern]) => pattern.test(code))?.[1] ?? BY_STAGE[stage];
}

/** Codes of Node and OpenSSL that say what is wrong by themselves. */
const BY_CODE: readonly (readonly [RegExp, string])[] = [
  [
    /^ENOTFOUND$/,
    'No address is known under this name. Check its spelling in the settings; ask your network team whether this machine resolves names of the outside.',
  ],
  [
    /^EAI_AGAIN$/,
    'The name server did not answer. Try again; if it stays like this, ask your network team which name server this machine should use.',
  ],
  [
    /^ECONNREFUSED$/,
    'Nothing listens at this port, or a firewall refuses. Check the port in the settings, and ask the operator whether the address is in service.',
  ],
  [
    /^(?:EHOSTUNREACH|ENETUNREACH)$/,
    'No way leads there from this machine. Ask your network team for a way out, or for the proxy to take.',
  ],
  [
    /^(?:CERT_HAS_EXPIRED)$/,
    'The certificate of the server has expired. Ask the operator to renew it; check the clock of this machine.',
  ],
  [
    /^CERT_NOT_YET_VALID$/,
    'The certificate of the server is not valid yet. Check the clock of this machine; then ask the operator.',
  ],
  [
    /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_)/,
    'No authority that this machine trusts has signed the certificate. Where the operator, or a proxy of your company, has an authority of its own, get its certificate by a way that you trust and name it: NODE_EXTRA_CA_CERTS=ca.pem.',
  ],
  [
    /^(?:ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/,
    'The certificate is for another name than the address has. Check the host in the settings against the onboarding papers.',
  ],
  [
    /^(?:ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG|ERR_SSL_HTTP_REQUEST)$/,
    'What answers there does not speak TLS. Check the port in the settings; a proxy on the way may answer in place of the operator.',
  ],
  [
    /^ERR_SSL_.*(?:PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL)/,
    'The server speaks no version of TLS from 1.2 on. Ask the operator for an address that does.',
  ],
  [
    /^ERR_SSL_.*ALERT/,
    'The server ended the handshake. It may want a client certificate, or another one than it was shown: ask the operator whether mutual TLS is needed, and which certificate is registered.',
  ],
];

const BY_STAGE: Readonly<Record<Stage, string>> = {
  name: 'The name cannot be resolved. Check its spelling in the settings, and the name server of this machine.',
  tcp: 'No connection comes about. Ask your network team whether this machine may connect there, and the operator whether it lets your addresses in.',
  proxy:
    'The proxy does not let the connection through. Check its address and credentials, and ask your network team whether it may connect there.',
  tls: 'The handshake does not come to its end. Ask the operator whether it wants a client certificate, and your network team whether something on the way breaks TLS open.',
};
