import { proxyProblem, type ConnectionSettings, type TextSource } from '../wire/wireSettings.ts';
import type { EnvironmentReader } from './environment.ts';
import type { NamesOf } from './settings.ts';

/** The way to everything but operators: the issuer's keys, the number directory, discovery documents, the collector. */
export type Egress = Readonly<ReturnType<typeof readEgress>>;

/** Reads EGRESS_…. The files must exist; their contents are checked where they are used. */
export function readEgress(read: EnvironmentReader) {
  const url = read.value('EGRESS_PROXY_URL');
  const credentials = fileOf(read, 'EGRESS_PROXY_CREDENTIALS_FILE');
  const ca = fileOf(read, 'EGRESS_CA_FILE');
  const noProxy = read.value('EGRESS_NO_PROXY').map((host) => host.toLowerCase());
  for (const name of ['EGRESS_PROXY_CREDENTIALS_FILE', 'EGRESS_NO_PROXY'] as const) {
    if (url !== undefined || !read.isSet(name)) continue;
    read.problem(name, 'is for the proxy of EGRESS_PROXY_URL, which is missing');
  }
  const problem = url === undefined ? undefined : proxyProblem(url);
  // Never quoted: it may contain a password.
  if (problem !== undefined) read.problem('EGRESS_PROXY_URL', problem);
  return {
    /** Hosts that are reached without the proxy; with a leading dot, all hosts of a domain. */
    noProxy,
    proxy: url === undefined ? undefined : { url, credentials },
    /** The only trusted authorities, instead of Node's. */
    ca,
  };
}

/** The connection to an address: direct without TLS, as such an address is on loopback or a collector nearby. Pure. */
export function egressTo({ proxy, noProxy, ca }: Egress, address: string): ConnectionSettings {
  const url = URL.parse(address);
  if (url?.protocol !== 'https:') return {};
  const isInside = noProxy.some((one) =>
    one.startsWith('.') ? url.hostname.endsWith(one) : url.hostname === one,
  );
  const isProxyOverTls = proxy?.url.startsWith('https:') === true;
  return {
    tls: ca && { ca },
    proxy: proxy && !isInside ? { ...proxy, ca: isProxyOverTls ? ca : undefined } : undefined,
  };
}

function fileOf(read: EnvironmentReader, name: NamesOf<'file'>): TextSource | undefined {
  return read.file(name) === undefined ? undefined : { kind: 'file', path: read.value(name) ?? '' };
}
