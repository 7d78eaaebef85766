import { parsePhoneNumber, type PhoneNumber } from '../../domain/phoneNumber.ts';
import type { Operation } from '../../domain/question.ts';
import { errorName } from '../../errors.ts';
import type { EndpointName } from '../../http/wireSettings.ts';
import { PublishedJson } from '../../http/publishedJson.ts';
import { ENDPOINT_LABELS } from '../../operator/operatorEndpoint.ts';
import type { OperatorSettings } from '../../operator/operatorSettings.ts';
import {
  asksOwner,
  type AuthorizationAddresses,
  type DiscoverySource,
} from '../../tokens/authorizationSettings.ts';
import { readDiscovery } from '../../tokens/discovery/discoveryDocument.ts';
import { scopeOf } from '../../tokens/scope.ts';
import { askAbout, type AskedFindings, type NumberTrial } from './askAbout.ts';
import { readClientReply } from './clientReply.ts';
import { placeOf, placeText } from './connectionTrace.ts';
import { STEPS, type Finding, type OperatorReport } from './finding.ts';
import { judgeClock, judgeCredentials, judgeScopes, type ScopeTrial } from './judgeClient.ts';
import { judgeEcho } from './judgeEcho.ts';
import { judgeDiscovery, type DiscoveryProbe } from './judgeMetadata.ts';
import { exchangeContext } from './singleExchange.ts';
import { OperatorUnderCheck, type CheckParts } from './operatorUnderCheck.ts';
import { openOwnFiles } from './ownFiles.ts';
import { tryPlace, type PlaceToTry } from './tryPlace.ts';
import type { Way } from './connection.ts';
import type { ConnectionFiles } from '../../http/connections/connectionFiles.ts';
import { withinTime } from './withinTime.ts';

/** What to try of an operator beside its connections and credentials. */
export interface OperatorTrial extends CheckParts {
  /** To ask about once; nobody is asked about where it is absent. */
  readonly number?: NumberTrial | undefined;
}

/**
 * Tries all that the service needs of an operator. Without a number nobody is asked about: no lookup is made,
 * and no owner is prompted.
 */
export async function checkOperator(trial: OperatorTrial): Promise<OperatorReport> {
  const own = openOwnFiles(trial.settings, trial);
  try {
    const { findings, billedLookups } = await tryAll(trial, own.files);
    return report(trial.settings, [...own.findings, ...findings], billedLookups);
  } finally {
    own.files.close();
  }
}

async function tryAll(trial: OperatorTrial, files: ConnectionFiles): Promise<AskedFindings> {
  const { settings } = trial;
  const way = { http2: settings.http2, clock: trial.clock, timeoutMs: trial.timeoutMs, files };
  const located = await locate(trial, way);
  const reached = await Promise.all(
    placesOf(settings, located.addresses).map((place) => tryPlace(way, place)),
  );
  const findings = [...located.findings, ...reached.flatMap((place) => place.findings)];
  const isReached = reached.every((place) => place.isReached);
  const { addresses } = located;
  if (!isReached || addresses === undefined) {
    return { findings: [...findings, ...notReached(trial)], billedLookups: 0 };
  }
  const checked = new OperatorUnderCheck(trial, files, addresses);
  const client = await tryClient(checked, trial);
  const isKnown = client.every(
    ({ step, verdict }) => step !== 'credentials' || verdict !== 'failed',
  );
  const asked = await askIfKnown(checked, trial, isKnown);
  const echo = judgeEcho(checked.echoes, settings.correlator.echo);
  return {
    findings: [...findings, ...client, ...asked.findings, ...echo],
    billedLookups: asked.billedLookups,
  };
}

async function askIfKnown(
  checked: OperatorUnderCheck,
  trial: OperatorTrial,
  isKnown: boolean,
): Promise<AskedFindings> {
  if (trial.number === undefined) return { findings: [], billedLookups: 0 };
  if (isKnown) return askAbout(checked, trial.number, trial);
  return { findings: [NOT_ASKED], billedLookups: 0 };
}

const NOT_ASKED: Finding = {
  step: 'lookup',
  at: '',
  verdict: 'not tried',
  found: 'needs credentials',
};

function report(
  { name }: OperatorSettings,
  findings: readonly Finding[],
  billedLookups: number,
): OperatorReport {
  // The discovery document may lie at a place that is tried for an endpoint as well.
  const once = new Map(findings.map((finding) => [`${finding.step} ${finding.at}`, finding]));
  const inOrder = [...once.values()].toSorted(
    (a, b) => STEPS.indexOf(a.step) - STEPS.indexOf(b.step),
  );
  return { operator: name, findings: inOrder, billedLookups };
}

function notReached({ number }: OperatorTrial): readonly Finding[] {
  const found = 'needs a connection to each address';
  const steps = ['credentials', 'scopes', 'lookup'] as const;
  return steps
    .filter((step) => step !== 'lookup' || number !== undefined)
    .map((step): Finding => ({ step, at: '', verdict: 'not tried', found }));
}

/** Where the authorization server takes requests, and what was found on the way to know it. */
interface Located {
  readonly addresses: AuthorizationAddresses | undefined;
  readonly findings: readonly Finding[];
}

async function locate(trial: OperatorTrial, way: Way): Promise<Located> {
  const { authorization } = trial.settings;
  switch (authorization.from) {
    case 'settings':
      return { addresses: authorization.addresses, findings: [] };
    case 'discovery':
      return discover(trial, way, authorization);
  }
}

async function discover(trial: OperatorTrial, way: Way, source: DiscoverySource): Promise<Located> {
  const { settings } = trial;
  const reached = await tryPlace(way, { url: source.documentUrl, endpoints: [] });
  const at = placeText(placeOf(source.documentUrl));
  if (!reached.isReached) return { addresses: undefined, findings: reached.findings };
  const probe = await readDocument(trial, way, source);
  const row = judgeDiscovery(at, probe, settings);
  const addresses = probe.kind === 'read' ? probe.addresses : undefined;
  return { addresses, findings: [...reached.findings, row] };
}

type ReadDocument =
  | (Extract<DiscoveryProbe, { kind: 'read' }> & { readonly addresses: AuthorizationAddresses })
  | Exclude<DiscoveryProbe, { kind: 'read' }>;

async function readDocument(
  { settings }: OperatorTrial,
  { files, clock, timeoutMs }: Way,
  source: DiscoverySource,
): Promise<ReadDocument> {
  const published = new PublishedJson(source.documentUrl, files, clock);
  try {
    const metadata = await withinTime(published.fetch(), timeoutMs);
    const read = readDiscovery(metadata, source, neededEndpoints(settings));
    switch (read.kind) {
      case 'refused':
        return read;
      case 'read': {
        const { token = '', backchannelAuthentication = '', cibaToken = '' } = read.addresses;
        const addresses = { token, backchannelAuthentication, cibaToken };
        return { kind: 'read', metadata, addresses };
      }
    }
  } catch (error) {
    return { kind: 'broke', code: errorName(error) };
  } finally {
    await published.close();
  }
}

function neededEndpoints({
  flow,
}: OperatorSettings): readonly ('token' | 'backchannelAuthentication' | 'cibaToken')[] {
  return asksOwner(flow) ? ['backchannelAuthentication', 'cibaToken'] : ['token'];
}

/** The places of all endpoints that the service would ask, each once. */
function placesOf(
  settings: OperatorSettings,
  addresses: AuthorizationAddresses | undefined,
): readonly PlaceToTry[] {
  const authorization =
    addresses === undefined
      ? []
      : neededEndpoints(settings).map((name) => ({ name, url: addresses[name] }));
  const { operations, lookupAddresses } = settings;
  const lookups = [...operations].map((operation) => {
    const name = ENDPOINT_OF[operation];
    return { name, url: lookupAddresses[name] };
  });
  const byPlace = Map.groupBy([...authorization, ...lookups], ({ url }) => new URL(url).origin);
  return Array.from(byPlace, ([url, endpoints]) => ({ url, endpoints }));
}

const ENDPOINT_OF = { 'retrieve-date': 'retrieveDate', check: 'check' } as const satisfies Readonly<
  Record<Operation, EndpointName>
>;

/** Whether the operator knows us, and what it lets us do. */
function tryClient(checked: OperatorUnderCheck, trial: OperatorTrial): Promise<readonly Finding[]> {
  return asksOwner(checked.settings.flow) ? tryPoll(checked, trial) : tryTokens(checked, trial);
}

/** A token for each scope; no lookup is made with them. */
async function tryTokens(
  checked: OperatorUnderCheck,
  { number, clock, timeoutMs }: OperatorTrial,
): Promise<readonly Finding[]> {
  const { settings, tokens, exchanges } = checked;
  const byScope = new Map(
    [...settings.operations].map((operation) => [scopeOf(settings.scopes, operation), operation]),
  );
  const trials: ScopeTrial[] = [];
  for (const [wanted, operation] of byScope) {
    const subject = { number: number?.number ?? NUMBER_OF_NOBODY, operation };
    await tokens.acquire(subject, exchangeContext(clock, timeoutMs));
    const reply = readClientReply(exchanges.token.exchange, settings.errors, clock.nowMs());
    trials.push({ wanted, reply });
  }
  const [first] = trials;
  if (first === undefined) return [];
  const at = ENDPOINT_LABELS.token;
  // Who cannot have one scope may still be known.
  const decisive = trials.find(({ reply }) => reply.standing !== 'scope refused') ?? first;
  return [
    judgeCredentials('token', at, decisive.reply, settings),
    judgeScopes(at, trials),
    ...judgeClock(at, first.reply),
  ];
}

/** A poll for a request that was never made: it proves who we are, and reaches nobody. */
async function tryPoll(
  checked: OperatorUnderCheck,
  { number, clock, timeoutMs }: OperatorTrial,
): Promise<readonly Finding[]> {
  const { settings, tokens, exchanges } = checked;
  const [operation = 'check'] = settings.operations;
  const subject = { number: NUMBER_OF_NOBODY, operation };
  const context = exchangeContext(clock, timeoutMs);
  await tokens.poll(`never-requested-${context.correlator.name}`, subject, context);
  const reply = readClientReply(exchanges.cibaToken.exchange, settings.errors, clock.nowMs());
  const at = ENDPOINT_LABELS.cibaToken;
  const scopes = number === undefined ? [SCOPES_NEED_OWNER] : [];
  return [judgeCredentials('poll', at, reply, settings), ...scopes, ...judgeClock(at, reply)];
}

const SCOPES_NEED_OWNER: Finding = {
  step: 'scopes',
  at: ENDPOINT_LABELS.backchannelAuthentication,
  verdict: 'not tried',
  found: 'judged once an owner is asked: use --number',
};

/** Ofcom reserves the range of this number for fiction: it will never be given to anybody. */
const NUMBER_OF_NOBODY = fictional('+447700900000');

function fictional(text: string): PhoneNumber {
  const parsed = parsePhoneNumber(text);
  if (parsed.kind === 'refused') throw new Error('The number of nobody is not a number.');
  return parsed.value;
}
