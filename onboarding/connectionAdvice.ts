import type { ConnectStage } from '../src/wire/connectFailure.ts';

/** What to do about a connection that broke: by its code, otherwise by its stage. Pure. */
export function connectionAdvice(stage: ConnectStage, code: string): string {
  return BY_CODE[GROUP_OF[stage]]?.find(([pattern]) => pattern.test(code))?.[1] ?? BY_STAGE[stage];
}

type Group = 'name' | 'connection' | 'tls' | 'proxy' | 'none';

/** The codes that add information at a stage. */
const GROUP_OF: Readonly<Record<ConnectStage, Group>> = {
  files: 'none',
  'proxy-name': 'none',
  'proxy-connection': 'none',
  'proxy-tls': 'none',
  'proxy-tunnel': 'proxy',
  name: 'name',
  connection: 'connection',
  tls: 'tls',
  certificate: 'tls',
  'client-certificate': 'none',
};

/** Codes of Node and OpenSSL, and our own for a proxy, that explain the failure by themselves. */
const BY_CODE: Readonly<Partial<Record<Group, readonly (readonly [RegExp, string])[]>>> = {
  name: [
    [
      /^EAI_AGAIN$|^timeout$/,
      'The name server did not answer. Try again; if it stays like this, ask your network team which name server this machine should use, and whether it needs a proxy.',
    ],
  ],
  connection: [
    [
      /^ECONNREFUSED$/,
      'Nothing listens at this port, or a firewall refuses. Check the port in the settings, and ask the operator whether the address is in service.',
    ],
  ],
  tls: [
    [
      /^CERT_HAS_EXPIRED$/,
      'The certificate of the server has expired. Ask the operator to renew it; check the clock of this machine.',
    ],
    [
      /^CERT_NOT_YET_VALID$/,
      'The certificate of the server is not valid yet. Check the clock of this machine; then ask the operator.',
    ],
    [
      /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_)/,
      'No trusted authority has signed the certificate of the server. Where the operator, or a proxy of your company, has an authority of its own, get its certificate in a way that you trust and name it in tls.ca, and for a discovery document in EGRESS_CA_FILE.',
    ],
    [
      /^(?:ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/,
      'The certificate is for another name than the address has. Check the host in the settings; where the onboarding papers give another name, write it in tls.serverName.',
    ],
    [
      /^(?:ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG|ERR_SSL_HTTP_REQUEST)$/,
      'The server there does not speak TLS. Check the port in the settings; a proxy on the way may answer instead of the operator.',
    ],
    [
      /^ERR_SSL_.*(?:PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL)/,
      'The server does not support TLS 1.2 or later. Ask the operator for an address that does.',
    ],
  ],
  proxy: [
    [
      /^PROXY_STATUS_407$/,
      'The proxy does not accept our credentials. Check the file of proxy.credentials, user:password, and ask your network team whether they were renewed.',
    ],
    [
      /^PROXY_STATUS_/,
      'The proxy refuses to connect there. Ask your network team to allow the host and port of the operator.',
    ],
    [
      /^PROXY_(?:SENT_A_BODY|NOT_HTTP)$/,
      'What answers at proxy.url is not a proxy that supports CONNECT. Check its address and port.',
    ],
  ],
};

const BY_STAGE: Readonly<Record<ConnectStage, string>> = {
  files:
    'Our own certificate, key, authorities or proxy credentials cannot be used. Correct the files that tls and proxy name; nothing is sent before.',
  'proxy-name':
    'The name of the proxy cannot be resolved. Check proxy.url, and the name server of this machine.',
  'proxy-connection':
    'No connection to the proxy is possible. Check proxy.url, and ask your network team whether this machine may connect to it.',
  'proxy-tls':
    'The handshake with the proxy fails. Check proxy.url; where your company has an authority of its own, name it in proxy.ca.',
  'proxy-tunnel':
    'The proxy opens no connection to the operator. Ask your network team whether it may connect there.',
  name: 'No address is known under this name. Check its spelling in the settings; ask your network team whether this machine resolves external names, or needs a proxy.',
  connection:
    'No connection can be made. Ask your network team whether this machine may connect there, and the operator whether it accepts connections from your addresses.',
  tls: 'The handshake does not complete. Ask the operator whether it wants a client certificate (tls.certificate, tls.key), and your network team whether something on the way intercepts TLS.',
  certificate:
    'The certificate of the server is not trusted. Ask the operator which authority signs it.',
  'client-certificate':
    'The server does not accept our certificate, or requires one. Compare tls.certificate with what is registered with the operator, and its expiry.',
};
