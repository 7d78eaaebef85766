import type { LogDetails } from '../log/log.ts';
import type { LookupFailure } from '../domain/errors.ts';
import type { Exchange, HttpReply, TransportFault, ReplyFlaw } from '../wire/exchange.ts';
import type { ConnectStage } from '../wire/connectFailure.ts';
import { knownTo, type ErrorMap, knownWord, type OperatorWord } from '../judging/errorMap.ts';
import { errorWord, leavesInDoubt } from '../judging/refusal.ts';
import type { ExchangeKind } from './retries.ts';

/** What the log says about an exchange, in known words: never the operator's free text. */
export interface Finding {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  readonly details: LogDetails;
}

export interface JudgedExchange {
  readonly endpoint: string;
  readonly kind: ExchangeKind;
  readonly exchange: Exchange;
  readonly errors: ErrorMap;
  readonly failure?: LookupFailure | undefined;
  readonly flaw?: ReplyFlaw | undefined;
  readonly isUnproven?: boolean | undefined;
  readonly nameSetting: NameSetting;
}

/** How a platform engineer writes a member of an operator's entry, such as `simSwapUrl`. */
export type NameSetting = (member: string) => string;

export function findingOf(judged: JudgedExchange): Finding | undefined {
  const { kind, exchange, nameSetting } = judged;
  const finding =
    kind === 'directory'
      ? findingOfDirectory(judged)
      : exchange.kind === 'fault'
        ? findingOfFault(judged.endpoint, exchange.fault)
        : findingOfReply(judged, exchange.reply);
  const setting = finding?.details['setting'];
  if (finding === undefined || typeof setting !== 'string') return finding;
  // A setting may have a value after it; settings of the profile or the directory already name their place.
  const named = setting.replace(/^\w+(?=:|$)/, nameSetting);
  return { ...finding, details: { ...finding.details, setting: named } };
}

/** The directory is the company's own: its refusals are for the company to fix. */
function findingOfDirectory({ endpoint, exchange, failure, flaw }: JudgedExchange) {
  if (failure === undefined) return undefined;
  if (exchange.kind === 'fault') {
    const { cause, stage, detail, flaw: check } = exchange.fault;
    if (cause === 'cancelled') return undefined;
    return warn(NO_DIRECTORY, { endpoint, stage, detail, check });
  }
  const details = { endpoint, status: exchange.reply.status, check: flaw };
  if (failure.code !== 'OPERATOR_REFUSED') return warn(NO_DIRECTORY, details);
  const setting = ADDRESS_SETTINGS.directory;
  return error('The number directory refused our request.', { ...details, setting });
}

const NO_DIRECTORY = 'The number directory returned no usable answer.';

const NO_TURN = 'Our own limit of requests per second left no time for the exchange.';
const NO_DESCRIPTOR =
  'This process has as many files and connections open as it may: the operator is not called. Raise the limit (ulimit -n).';

function findingOfFault(
  endpoint: string,
  { cause, detail, flaw, stage }: TransportFault,
): Finding | undefined {
  switch (cause) {
    case 'cancelled':
      return undefined;
    case 'rate':
      return warn(NO_TURN, { endpoint });
    case 'descriptors':
      return error(NO_DESCRIPTOR, { endpoint, detail });
    case 'connection':
    case 'timeout':
    case 'invalid-reply':
  }
  if (flaw !== undefined) return untrusted(endpoint, flaw);
  if (stage === undefined) {
    return warn('An exchange with the operator failed.', { endpoint, detail });
  }
  const [level, message] = STAGES[stage];
  return { level, message, details: { endpoint, stage, detail } };
}

/** An error is something that the platform team must fix. */
const STAGES: Readonly<Record<ConnectStage, readonly ['warn' | 'error', string]>> = {
  files: ['error', 'Our TLS or proxy files cannot be used: no connection to the operator is made.'],
  'proxy-name': [
    'warn',
    'The host name of the proxy cannot be resolved: the operator cannot be called.',
  ],
  'proxy-connection': ['warn', 'The proxy does not answer: the operator cannot be called.'],
  'proxy-tls': ['error', 'TLS with the proxy failed: the operator cannot be called.'],
  'proxy-tunnel': ['error', 'The proxy opens no tunnel to the operator.'],
  name: ['warn', 'The host name of the operator cannot be resolved.'],
  connection: ['warn', 'No connection to the operator could be made.'],
  tls: ['warn', 'TLS with the operator failed.'],
  certificate: [
    'error',
    'The certificate of the operator is not trusted: nothing is sent. If it is signed by a private authority, set tls.ca.',
  ],
  'client-certificate': ['error', 'The operator does not accept our client certificate.'],
};

function findingOfReply(
  { endpoint, kind, errors, failure, flaw, isUnproven }: JudgedExchange,
  reply: HttpReply,
): Finding | undefined {
  const { status } = reply;
  const isNotable = isUnproven === true || status === 429 || leavesInDoubt(status);
  if (failure === undefined && (status < 300 || !isNotable)) return undefined;
  const wordIn = kind === 'lookup' || kind === 'directory' ? 'code' : 'error';
  const word = knownTo(errors, errorWord(reply, { wordIn, errors }));
  const details = { endpoint, status, word };
  if (isUnproven === true) return untrusted(endpoint, 'no correlator', status);
  if (status === 429 || failure?.code === 'OPERATOR_RATE_LIMITED') {
    return warn('Rate-limited by the operator.', details);
  }
  const setting = settingFor(kind, status, knownWord(word));
  switch (failure?.code) {
    // A poll that will be repeated has no failure.
    case undefined:
    case 'OPERATOR_UNAVAILABLE':
    case 'OPERATOR_TIMEOUT':
      return warn(UNAVAILABLE, details);
    case 'OPERATOR_REFUSED':
      return error('The operator refused our request.', { ...details, setting });
    case 'OPERATOR_INVALID_REPLY':
      return untrusted(endpoint, flaw, status);
    case 'OPERATION_NOT_OFFERED':
      return warn(NOT_IMPLEMENTED, { ...details, setting: 'operations' });
    case 'PERIOD_NOT_SUPPORTED':
      return { level: 'info', message: PERIOD_TOO_LONG, details: { ...details, setting } };
    case 'CONSENT_DENIED': {
      const message = DENIALS[kind];
      return message === undefined ? undefined : warn(message, details);
    }
    case 'CONSENT_EXPIRED':
      return kind === 'lookup' ? warn(CONSENT_AGAIN, details) : undefined;
    // Expected replies, and failures that the operator did not cause.
    case 'NUMBER_NOT_SERVED':
    case 'CONSENT_PENDING':
    case 'RATE_LIMITED':
    case 'AUDIT_UNAVAILABLE':
    case 'STATE_UNAVAILABLE':
    case 'UNAVAILABLE':
      return undefined;
  }
}

const UNAVAILABLE = 'The operator is not available.';
const NOT_IMPLEMENTED = 'The operator does not implement this operation.';
const PERIOD_TOO_LONG = 'The operator does not answer for a period this long.';

/** In the reply to a poll a denial is the owner's; in another reply it may be the operator's. */
const DENIALS: Readonly<Partial<Record<ExchangeKind, string>>> = {
  'backchannel-authentication':
    'The operator denied consent before it prompted the owner. If it does so for every number, our client may not request consents.',
  lookup: 'The operator denied consent, for a lookup that the owner had consented to.',
};

const CONSENT_AGAIN =
  'The operator requires another consent, for a lookup that the owner had consented to.';

function untrusted(endpoint: string, check: ReplyFlaw | undefined, status?: number): Finding {
  return warn('The operator sent a reply that cannot be trusted.', {
    endpoint,
    status,
    check,
    setting: check === undefined ? undefined : SETTING_FOR_FLAW[check],
  });
}

function warn(message: string, details: LogDetails): Finding {
  return { level: 'warn', message, details };
}

function error(message: string, details: LogDetails): Finding {
  return { level: 'error', message, details };
}

const SETTING_FOR_FLAW: Readonly<Partial<Record<ReplyFlaw, string>>> = {
  'another correlator, and ours was never echoed': 'echo: never',
  'no correlator, and ours was never echoed': 'echo: auto',
};

const SETTING_FOR_WORD: Readonly<Partial<Record<OperatorWord, string>>> = {
  MISSING_IDENTIFIER: 'sendPhoneNumber of the profile: always',
  UNIDENTIFIABLE_PHONE_NUMBER: 'sendPhoneNumber of the profile: always',
  UNNECESSARY_IDENTIFIER: 'sendPhoneNumber of the profile: never',
  INVALID_TOKEN_CONTEXT: 'sendPhoneNumber of the profile',
  OUT_OF_RANGE: 'maxAgeHours',
  PERMISSION_DENIED: 'scopes',
  insufficient_scope: 'scopes',
  invalid_scope: 'scopes',
  invalid_client: 'client',
  unsupported_grant_type: 'grantType of the profile',
  invalid_request_object: 'signedRequest of the profile',
};

function settingFor(
  kind: ExchangeKind,
  status: number,
  word: OperatorWord | undefined,
): string | undefined {
  if (kind === 'client-credentials' && word === 'unsupported_grant_type') return 'flow';
  if (word !== undefined && SETTING_FOR_WORD[word] !== undefined) return SETTING_FOR_WORD[word];
  const isAboutAddress = status === 404 || status === 405 || (status >= 300 && status < 400);
  return isAboutAddress ? ADDRESS_SETTINGS[kind] : undefined;
}

export const ADDRESS_SETTINGS: Readonly<Record<ExchangeKind, string>> = {
  lookup: 'simSwapUrl',
  directory: 'directory.url of OPERATORS_FILE',
  'backchannel-authentication': 'authUrl',
  'token-poll': 'authUrl',
  'client-credentials': 'authUrl',
};
