import {
  proxyProblem,
  serverNameProblem,
  type ConnectionSettings,
  type TextSource,
} from '../http/connections/connectionSettings.ts';
import type { EnvironmentReader } from './environment.ts';
import type { NamesOf } from './settings.ts';

/** The settings of {@link readConnection}, and the variables that say where their secrets are. */
export const CONNECTION_NAMES = [
  'OPERATOR_TLS_CERTIFICATE_FILE',
  'OPERATOR_TLS_KEY_FILE',
  'OPERATOR_TLS_KEY_PASSPHRASE',
  'OPERATOR_TLS_KEY_PASSPHRASE_FILE',
  'OPERATOR_TLS_CA_FILE',
  'OPERATOR_TLS_SERVER_NAME',
  'OPERATOR_PROXY_URL',
  'OPERATOR_PROXY_CREDENTIALS',
  'OPERATOR_PROXY_CREDENTIALS_FILE',
  'OPERATOR_PROXY_CA_FILE',
] as const;

/**
 * Reads how connections to the operator of the short form are made. That the files are there is looked at; what they hold is judged where it is used,
 * since it may change, and since one operator's certificate must not keep the others from being asked.
 */
export function readConnection(
  read: EnvironmentReader,
  addressNames: readonly NamesOf<'url'>[],
): ConnectionSettings {
  refusePlainText(read, addressNames);
  const tls = readTls(read);
  const proxy = readProxy(read);
  return {
    ...(tls === undefined ? {} : { tls }),
    ...(proxy === undefined ? {} : { proxy }),
  };
}

/** On loopback an address may be http: there nothing of it all would be used. */
function refusePlainText(read: EnvironmentReader, addressNames: readonly NamesOf<'url'>[]): void {
  const plain = addressNames.find((name) => read.url(name)?.startsWith('http:'));
  if (plain === undefined) return;
  for (const name of CONNECTION_NAMES.filter((one) => read.isSet(one))) {
    read.problem(name, `is for addresses that start with https://, and ${plain} does not`);
  }
}

function readTls(read: EnvironmentReader): ConnectionSettings['tls'] {
  const certificateName = 'OPERATOR_TLS_CERTIFICATE_FILE';
  const keyName = 'OPERATOR_TLS_KEY_FILE';
  const passphraseName = 'OPERATOR_TLS_KEY_PASSPHRASE';
  const serverNameName = 'OPERATOR_TLS_SERVER_NAME';
  const certificate = fileOf(read, certificateName);
  const key = fileOf(read, keyName);
  const passphrase = read.secretSource(passphraseName);
  const ca = fileOf(read, 'OPERATOR_TLS_CA_FILE');
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

function readProxy(read: EnvironmentReader): ConnectionSettings['proxy'] {
  const urlName = 'OPERATOR_PROXY_URL';
  const caName = 'OPERATOR_PROXY_CA_FILE';
  const url = read.text(urlName);
  const credentials = read.secretSource('OPERATOR_PROXY_CREDENTIALS');
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

/** Where a file is that can be read. */
export function fileOf(read: EnvironmentReader, name: NamesOf<'file'>): TextSource | undefined {
  if (!read.isSet(name)) return undefined;
  const text = read.file(name, '');
  return text === undefined ? undefined : { kind: 'file', path: read.text(name) ?? '' };
}
