import type { Operation } from '../src/domain/question.ts';
import type { ConnectionFiles } from '../src/wire/connectionFiles.ts';
import type {
  NumberDirectorySettings,
  OperatorSettings,
  EndpointName,
} from '../src/operator/operatorSettings.ts';
import {
  authorizationEndpointsOf,
  type AuthorizationAddresses,
} from '../src/tokens/authorizationSettings.ts';
import { tryNumber, type TrialFindings, type NumberTrial } from './tryNumber.ts';
import { STEPS, type Finding, type OperatorReport } from './finding.ts';
import { judgeEcho } from './judgeEcho.ts';
import { judgePapers } from './judgePapers.ts';
import { locate } from './locate.ts';
import { OperatorUnderCheck, type CheckParts } from './operatorUnderCheck.ts';
import { tryClient } from './tryClient.ts';
import { openOwnFiles, tryPlace, type PlaceToTry } from './tryPlace.ts';

/** What to check of an operator in addition to its connections and credentials. */
export interface OperatorTrial extends CheckParts {
  /** Looked up once; absent, no number is looked up. */
  readonly number?: NumberTrial | undefined;
}

/** Checks all that the service needs of an operator. Without a number no lookup is made, and no owner is prompted. */
export async function checkOperator(trial: OperatorTrial): Promise<OperatorReport> {
  const own = openOwnFiles(trial.settings, trial);
  try {
    const { findings, billedLookups } = await tryAll(trial, own.files);
    const papers = judgePapers(trial.settings.papers, trial.clock.nowMs());
    return report(trial.settings, [...papers, ...own.findings, ...findings], billedLookups);
  } finally {
    own.files.close();
  }
}

/** Checks how far a connection to the company's number directory gets, without a lookup in it. */
export async function checkDirectory(
  settings: NumberDirectorySettings,
  parts: Omit<CheckParts, 'settings' | 'purposes'>,
): Promise<OperatorReport> {
  const { files, findings } = openOwnFiles(settings, parts);
  files.close();
  const way = { ...parts, http2: 'auto', settings } as const;
  const tried = await tryPlace(way, { url: settings.url, endpoints: [] });
  return {
    operator: 'number directory',
    findings: [...findings, ...tried.findings],
    billedLookups: 0,
  };
}

async function tryAll(trial: OperatorTrial, files: ConnectionFiles): Promise<TrialFindings> {
  const { settings } = trial;
  const way = { ...trial, http2: settings.http2 };
  const located = await locate(trial, way);
  const reached = await Promise.all(
    placesOf(settings, located.addresses).map((place) => tryPlace(way, place)),
  );
  const findings = [...located.findings, ...reached.flatMap((place) => place.findings)];
  const broken = reached.filter((place) => !place.isReached).flatMap(({ endpoints }) => endpoints);
  const needed = authorizationEndpointsOf(settings.grant);
  const { addresses } = located;
  if (addresses === undefined || needed.some((name) => broken.includes(name))) {
    return { findings: [...findings, ...notReached(trial)], billedLookups: 0 };
  }
  const checked = new OperatorUnderCheck(trial, files, addresses);
  const client = await tryClient(checked, trial);
  const isKnown = client.every(
    ({ step, verdict }) => step !== 'credentials' || verdict !== 'failed',
  );
  const tried = await tryIf(isKnown && broken.length === 0, checked, trial);
  const echo = judgeEcho(checked.echoes, settings.correlator.echo);
  return {
    findings: [...findings, ...client, ...tried.findings, ...echo],
    billedLookups: tried.billedLookups,
  };
}

async function tryIf(
  isWell: boolean,
  checked: OperatorUnderCheck,
  trial: OperatorTrial,
): Promise<TrialFindings> {
  if (trial.number === undefined) return { findings: [], billedLookups: 0 };
  if (isWell) return tryNumber(checked, trial.number, trial);
  return { findings: [NOT_ASKED], billedLookups: 0 };
}

const NOT_ASKED: Finding = {
  step: 'lookup',
  at: '',
  verdict: 'not tried',
  found: 'needs all of the above',
};

function report(
  { name }: OperatorSettings,
  findings: readonly Finding[],
  billedLookups: number,
): OperatorReport {
  // The discovery document may lie at the place of an endpoint, with other authorities: a failure of either is kept.
  const once = new Map<string, Finding>();
  for (const finding of findings) {
    const key = `${finding.step} ${finding.at}`;
    if (once.get(key)?.verdict !== 'failed') once.set(key, finding);
  }
  const inOrder = [...once.values()].toSorted(
    (a, b) => STEPS.indexOf(a.step) - STEPS.indexOf(b.step),
  );
  return { operator: name, findings: inOrder, billedLookups };
}

function notReached({ number }: OperatorTrial): readonly Finding[] {
  const found = 'needs a connection to the authorization server';
  const steps = ['credentials', 'scopes', 'lookup'] as const;
  return steps
    .filter((step) => step !== 'lookup' || number !== undefined)
    .map((step): Finding => ({ step, at: '', verdict: 'not tried', found }));
}

/** The places of all endpoints that the service would call, each once. */
function placesOf(
  settings: OperatorSettings,
  addresses: AuthorizationAddresses | undefined,
): readonly PlaceToTry[] {
  const authorization =
    addresses === undefined
      ? []
      : authorizationEndpointsOf(settings.grant).map((name) => ({ name, url: addresses[name] }));
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
