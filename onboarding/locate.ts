import { PublishedJson } from '../src/wire/publishedJson.ts';
import { errorName } from '../src/domain/errors.ts';
import {
  authorizationEndpointsOf,
  type AuthorizationAddresses,
  type DiscoverySource,
} from '../src/tokens/authorizationSettings.ts';
import { readDiscovery } from '../src/tokens/discovery.ts';
import type { Way } from './connection.ts';
import { placeOf, placeText } from './connectionTrace.ts';
import { SILENT, type Finding } from './finding.ts';
import { judgeDiscovery, type DiscoveryProbe } from './judgeMetadata.ts';
import { purposeFor, type CheckParts } from './operatorUnderCheck.ts';
import { withinTime } from './httpProbe.ts';
import { openOwnFiles, tryPlace } from './tryPlace.ts';

/** Where the authorization server takes requests, and the findings of the search. */
export interface Located {
  readonly addresses: AuthorizationAddresses | undefined;
  readonly findings: readonly Finding[];
}

/** Finds where the authorization server takes requests: in the settings, or in its discovery document. */
export async function locate(trial: CheckParts, way: Way): Promise<Located> {
  const { authorization } = trial.settings;
  switch (authorization.from) {
    case 'settings':
      return { addresses: authorization.addresses, findings: [] };
    case 'nowhere':
      return {
        addresses: { token: '', backchannelAuthentication: '', cibaToken: '' },
        findings: [],
      };
    case 'discovery':
      return discover(trial, way, authorization);
  }
}

async function discover(trial: CheckParts, way: Way, source: DiscoverySource): Promise<Located> {
  const { settings } = trial;
  const { files, findings: own } = openOwnFiles(source.connection, trial);
  files.close();
  const reached = await tryPlace(
    { ...way, settings: source.connection },
    { url: source.documentUrl, endpoints: [] },
  );
  const at = placeText(placeOf(source.documentUrl));
  if (!reached.isReached) {
    return { addresses: undefined, findings: [...own, ...reached.findings] };
  }
  const probe = await readDocument(trial, source);
  const row = judgeDiscovery(at, probe, settings, purposeFor(trial));
  const addresses = probe.kind === 'read' ? probe.addresses : undefined;
  return { addresses, findings: [...own, ...reached.findings, row] };
}

type ReadDocument =
  | (Extract<DiscoveryProbe, { kind: 'read' }> & { readonly addresses: AuthorizationAddresses })
  | Exclude<DiscoveryProbe, { kind: 'read' }>;

async function readDocument(
  { settings, clock, timeoutMs }: CheckParts,
  source: DiscoverySource,
): Promise<ReadDocument> {
  const parts = { clock, log: SILENT };
  const published = new PublishedJson(source.documentUrl, source.connection, parts);
  try {
    const metadata = await withinTime(published.fetch(), timeoutMs);
    const read = readDiscovery(metadata, source, authorizationEndpointsOf(settings.grant));
    if (typeof read === 'string') return { kind: 'refused', flaw: read };
    const { token = '', backchannelAuthentication = '', cibaToken = '' } = read;
    return { kind: 'read', metadata, addresses: { token, backchannelAuthentication, cibaToken } };
  } catch (error) {
    return { kind: 'broke', code: errorName(error) };
  } finally {
    await published.close();
  }
}
