import {
  proxyProblem,
  serverNameProblem,
  type ConnectionSettings,
  type TextSource,
} from '../http/connections/connectionSettings.ts';
import type { EnvironmentReader } from './environment.ts';
import type { NamesOf } from './settings.ts';

/** Whose connections settings are for: the operator's of the short form, or those to the issuer's keys. */
type Prefix = 'OPERATOR' | 'JWT_JWKS';

/** The settings of {@link readConnection}, and the variables that say where their secrets are. */
export function connectionNames<P extends Prefix>(prefix: P) {
  return [
    `${prefix}_TLS_CERTIFICATE_FILE`,
    `${prefix}_TLS_KEY_FILE`,
    `${prefix}_TLS_KEY_PASSPHRASE`,
    `${prefix}_TLS_KEY_PASSPHRASE_FILE`,
    `${prefix}_TLS_CA_FILE`,
    `${prefix}_TLS_SERVER_NAME`,
    `${prefix}_PROXY_URL`,
    `${prefix}_PROXY_CREDENTIALS`,
    `${prefix}_PROXY_CREDENTIALS_FILE`,
    `${prefix}_PROXY_CA_FILE`,
  ] as const;
}

/**
 * Reads how connections are made. That the files are there is looked at; what they hold is judged where it is used,
 * since it may change, and since one operator's certificate must not keep the others from being asked.
 */
export function readConnection(
  read: EnvironmentReader,
  prefix: Prefix,
  addressNames: readonly NamesOf<'url'>[],
): ConnectionSettings {
  refusePlainText(read, prefix, addressNames);
  const tls = readTls(read, prefix);
  const proxy = readProxy(read, prefix);
  return {
    ...(tls === undefined ? {} : { tls }),
    ...(proxy === undefined ? {} : { proxy }),
  };
}

/** On loopback an address may be http: there nothing of it all would be used. */
function refusePlainText(
  read: EnvironmentReader,
  prefix: Prefix,
  addressNames: readonly NamesOf<'url'>[],
): void {
  const plain = addressNames.find((name) => read.url(name)?.startsWith('http:'));
  if (plain === undefined) return;
  for (const name of connectionNames(prefix).filter((one) => read.isSet(one))) {
    read.problem(name, `is for addresses that start with https://, and ${plain} does not`);
  }
}

function readTls(read: EnvironmentReader, prefix: Prefix): ConnectionSettings['tls'] {
  const certificateName = `${prefix}_TLS_CERTIFICATE_FILE` as const;
  const keyName = `${prefix}_TLS_KEY_FILE` as const;
  const passphraseName = `${prefix}_TLS_KEY_PASSPHRASE` as const;
  const serverNameName = `${prefix}_TLS_SERVER_NAME` as const;
  const certificate = fileOf(read, certificateName);
  const key = fileOf(read, keyName);
  const passphrase = read.secretSource(passphraseName);
  const ca = fileOf(read, `${prefix}_TLS_CA_FILE`);
  const serverName = read.text(serverNameName);
  // A file that cannot be read is told of already.
  const [hasCertificate, hasKey] = [read.isSet(certificateName), read.isSet(keyName)];
  if (hasCertificate && !hasKey) {
    read.problem(keyName, `is missing: ${certificateName} needs the key of its certificate`);
  }
  if (hasKey && !hasCertificate) {
    read.problem(certificateName, `is missing: ${keyName} is the key of a certificate`);
  }
  if (passphrase !== undefined && !hasKey) {
    read.problem(keyName, `is missing: ${passphraseName} opens it`);
  }
  const problem = serverName === undefined ? undefined : serverNameProblem(serverName);
  if (problem !== undefined) read.unfit(serverNameName, problem);
  const tls = {
    ...(certificate === undefined ? {} : { certificate }),
    ...(key === undefined ? {} : { key }),
    ...(passphrase === undefined ? {} : { passphrase }),
    ...(ca === undefined ? {} : { ca }),
    ...(serverName === undefined ? {} : { serverName }),
  };
  return Object.keys(tls).length === 0 ? undefined : tls;
}

function readProxy(read: EnvironmentReader, prefix: Prefix): ConnectionSettings['proxy'] {
  const urlName = `${prefix}_PROXY_URL` as const;
  const caName = `${prefix}_PROXY_CA_FILE` as const;
  const url = read.text(urlName);
  const credentials = read.secretSource(`${prefix}_PROXY_CREDENTIALS`);
  const ca = fileOf(read, caName);
  if (url === undefined) {
    if (credentials !== undefined || ca !== undefined) {
      read.problem(urlName, 'is missing: there are other settings of the proxy');
    }
    return undefined;
  }
  const problem = proxyProblem(url);
  // Never quoted: it may hold a password, which is one of its problems.
  if (problem !== undefined) read.problem(urlName, problem);
  if (ca !== undefined && !url.startsWith('https:')) {
    read.problem(caName, `is for a proxy whose ${urlName} starts with https://`);
  }
  return {
    url,
    ...(credentials === undefined ? {} : { credentials }),
    ...(ca === undefined ? {} : { ca }),
  };
}

function fileOf(read: EnvironmentReader, name: NamesOf<'file'>): TextSource | undefined {
  if (!read.isSet(name)) return undefined;
  const text = read.file(name, '');
  return text === undefined ? undefined : { kind: 'file', path: read.text(name) ?? '' };
}
