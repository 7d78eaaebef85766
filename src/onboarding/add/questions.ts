import { valueAt } from '../../config/operatorsFile/document.ts';
import { OPERATOR_DEFAULTS } from '../../operator/operatorDefaults.ts';
import { OPERATIONS } from '../../domain/question.ts';
import { isPlaceholder, textAt, withMember, withoutMember, type Draft } from './draft.ts';

/** One question of the onboarding papers, and where its answer goes. */
export interface Question {
  /** Names it where answers come from a file: `client.id`. */
  readonly id: string;
  readonly asks: string;
  /** All that may be answered, where that is a choice. */
  readonly choices?: readonly string[];
  /** Where its answer stands in the entry. */
  readonly path: readonly string[];
  /** Whether nothing may be answered. */
  readonly isOptional: boolean;
  readonly isAsked: (draft: Draft) => boolean;
  /** What no answer comes to; `undefined` where one is needed, or nothing is as good. */
  readonly defaultOf: (draft: Draft) => string | undefined;
  /** The entry with the answer in it. */
  readonly apply: (draft: Draft, answer: string) => Draft;
}

/** Answers an optional question whose default is not wanted. */
export const NOTHING = '-';

type Kind = 'text' | 'list' | 'whole number' | 'file' | 'yes or no';

interface Asked {
  readonly id: string;
  readonly asks: string;
  readonly kind?: Kind;
  readonly path?: readonly string[];
  readonly choices?: readonly string[];
  readonly isOptional?: boolean;
  readonly isAsked?: (draft: Draft) => boolean;
  /** Of an entry that says nothing: what the service takes then, unless it `isWritten`. */
  readonly standard?: string;
  /** Whether the standard answer has to stand in the entry. */
  readonly isWritten?: boolean;
}

function question(asked: Asked): Question {
  const { id, asks, kind = 'text', isOptional = false, isWritten = false, standard } = asked;
  const path = asked.path ?? id.split('.');
  const defaultOf = (draft: Draft): string | undefined => {
    const present = answerIn(kind, draft, path);
    return present === undefined || isPlaceholder(present) ? standard : present;
  };
  return {
    id,
    asks,
    path,
    ...(asked.choices === undefined ? {} : { choices: asked.choices }),
    isOptional,
    isAsked: asked.isAsked ?? (() => true),
    defaultOf,
    apply(draft, answer) {
      if (isOptional && (answer === NOTHING || answer === '')) return withoutMember(draft, path);
      const isThere = answerIn(kind, draft, path) !== undefined;
      if (answer === standard && !isWritten && !isThere) return draft;
      return withMember(draft, path, valueOf(kind, answer));
    },
  };
}

function answerIn(kind: Kind, draft: Draft, path: readonly string[]): string | undefined {
  switch (kind) {
    case 'text':
    case 'list':
    case 'whole number':
      return textAt(draft, path);
    case 'file':
      return textAt(draft, [...path, 'file']);
    case 'yes or no': {
      const value = valueAt(draft, path);
      return typeof value === 'boolean' ? yesOrNo(value) : undefined;
    }
  }
}

/** What is no whole number, or neither yes nor no, stays as it is: the reader of the file says so. */
function valueOf(kind: Kind, answer: string): unknown {
  switch (kind) {
    case 'text':
      return answer;
    case 'list':
      return answer.split(',').map((one) => one.trim());
    case 'whole number':
      return /^\d{1,9}$/.test(answer) ? Number(answer) : answer;
    case 'file':
      return { file: answer };
    case 'yes or no':
      if (/^y(?:es)?$/i.test(answer)) return true;
      return /^no?$/i.test(answer) ? false : answer;
  }
}

function yesOrNo(value: boolean): string {
  return value ? 'yes' : 'no';
}

const METHODS = ['basic', 'private_key_jwt', 'both', 'bearer_jwt'];
const WITH_SECRET = new Set(['basic', 'both']);
const WITH_KEY = new Set(['private_key_jwt', 'both', 'bearer_jwt']);

const methodIn = (draft: Draft): string => textAt(draft, ['client', 'method']) ?? '';
const hasDiscovery = (draft: Draft): boolean => draft['discovery'] !== undefined;
const signs = (draft: Draft): boolean =>
  WITH_KEY.has(methodIn(draft)) ||
  textAt(draft, ['grant', 'type']) === 'jwt-bearer' ||
  /^(?:on|strict)$/.test(textAt(draft, ['client', 'signedRequest']) ?? '');
const hasMember =
  (...path: readonly string[]) =>
  (draft: Draft): boolean =>
    valueAt(draft, path) !== undefined;
const offers =
  (operation: string) =>
  (draft: Draft): boolean => {
    const { operations = OPERATIONS } = draft;
    return Array.isArray(operations) && operations.includes(operation);
  };

const { scopes, maxAgeHours } = OPERATOR_DEFAULTS;

/** What a profile says of another method is left out. */
function clientMethod(): Question {
  const asked = question({
    id: 'client.method',
    asks: 'How the client shows who it is',
    choices: METHODS,
    standard: 'basic',
    isWritten: true,
    isAsked: (draft) => methodIn(draft) !== 'headers',
  });
  return {
    ...asked,
    apply(draft, answer) {
      const applied = asked.apply(draft, answer);
      const secretless = WITH_SECRET.has(answer)
        ? applied
        : withoutMember(applied, ['client', 'secret']);
      return signs(applied) ? secretless : withoutMember(secretless, ['client', 'assertion']);
    },
  };
}

/** What the entry starts from. */
export function profileQuestion(names: readonly string[], standard: string): Question {
  return question({
    id: 'profile',
    asks: 'Profile to start from: what is publicly known of an operator',
    choices: names,
    standard,
    isWritten: true,
  });
}

/** How the operator is called in this service. */
export const NAME = question({
  id: 'name',
  asks: 'Name, as log and audit lines are to have it: small letters, digits and hyphens',
});

/** Asked where an entry would be lost. */
export const REPLACE = question({
  id: 'replace',
  asks: 'An entry has this name already. Replace it',
  choices: ['yes', 'no'],
  standard: 'no',
  isWritten: true,
});

/** Asked of a person, who has seen the entry. */
export const WRITE = question({
  id: 'write',
  asks: 'Write this entry',
  choices: ['yes', 'no'],
  standard: 'yes',
  isWritten: true,
});

/** What the onboarding papers of an operator say, in the order in which the papers say it. */
export const QUESTIONS: readonly Question[] = [
  question({
    id: 'prefixes',
    asks: 'How its numbers begin, with commas between, such as +44; "default" for all that no other operator serves',
    kind: 'list',
  }),
  question({
    id: 'flow',
    asks: '2-legged, or 3-legged with the consent of the owner',
    choices: ['2-legged', '3-legged'],
    standard: '2-legged',
    isWritten: true,
    // The grant of a profile is that of one flow.
    isAsked: (draft) => draft['grant'] === undefined,
  }),
  question({
    id: 'discovery.issuer',
    asks: 'Issuer, where the authorization server has a discovery document; - where the papers have its address',
    isOptional: true,
    isAsked: (draft) => isPlaceholder(textAt(draft, ['authUrl']) ?? 'fill-in'),
  }),
  question({
    id: 'authUrl',
    asks: 'Address of the authorization server, without the paths of its endpoints',
    isAsked: (draft) => !hasDiscovery(draft),
  }),
  question({
    id: 'simSwapUrl',
    asks: 'Address of the SIM swap API, with its version: https://…/sim-swap/v2',
  }),
  question({ id: 'client.id', asks: 'Client id' }),
  clientMethod(),
  question({
    id: 'client.secret',
    asks: 'File that holds the client secret, from the folder of the operators’ file; never the secret itself',
    kind: 'file',
    isAsked: (draft) => WITH_SECRET.has(methodIn(draft)),
  }),
  question({
    id: 'client.assertion.alg',
    asks: 'Algorithm that signs assertions',
    choices: ['ES256', 'PS256', 'RS256'],
    standard: 'ES256',
    isAsked: signs,
  }),
  question({
    id: 'client.assertion.key',
    asks: 'File with the private key, in PEM',
    kind: 'file',
    isAsked: signs,
  }),
  question({
    id: 'client.assertion.kid',
    asks: 'Id of that key, if the operator gave one',
    isOptional: true,
    isAsked: signs,
  }),
  question({
    id: 'client.assertion.audience',
    asks: 'Audience of assertions: what the operator calls its authorization server',
    isAsked: signs,
  }),
  question({
    id: 'tls.certificate',
    asks: 'File with our client certificate in PEM, where the operator demands one (mutual TLS)',
    kind: 'file',
    isOptional: true,
  }),
  question({
    id: 'tls.key',
    asks: 'File with the private key of that certificate, in PEM',
    kind: 'file',
    isAsked: hasMember('tls', 'certificate'),
  }),
  question({
    id: 'tls.passphrase',
    asks: 'File with what opens that key, where it is encrypted',
    kind: 'file',
    isOptional: true,
    isAsked: hasMember('tls', 'key'),
  }),
  question({
    id: 'tls.ca',
    asks: 'File with the authorities that sign the operator’s certificate, where they are not public',
    kind: 'file',
    isOptional: true,
  }),
  question({
    id: 'proxy.url',
    asks: 'Egress proxy to connect through, such as http://proxy.example:3128',
    isOptional: true,
  }),
  question({
    id: 'proxy.credentials',
    asks: 'File with user:password for the proxy',
    kind: 'file',
    isOptional: true,
    isAsked: hasMember('proxy', 'url'),
  }),
  question({
    id: 'operations',
    asks: 'Operations that were ordered: retrieve-date, check, or both',
    kind: 'list',
    standard: OPERATIONS.join(', '),
  }),
  question({
    id: 'scopes.retrieve-date',
    asks: 'Scope of retrieve-date',
    standard: scopes.operations['retrieve-date'],
    isAsked: offers('retrieve-date'),
  }),
  question({
    id: 'scopes.check',
    asks: 'Scope of check',
    standard: scopes.operations.check,
    isAsked: offers('check'),
  }),
  question({
    id: 'scopes.purpose',
    asks: 'Purpose that scopes name, such as dpv:FraudPreventionAndDetection',
    isOptional: true,
  }),
  question({
    id: 'scopes.openid',
    asks: 'Whether openid is asked for as well',
    kind: 'yes or no',
    standard: yesOrNo(scopes.openid),
  }),
  question({
    id: 'maxAgeHours',
    asks: 'The longest period that check answers for, in hours',
    kind: 'whole number',
    standard: String(maxAgeHours),
    isAsked: offers('check'),
  }),
  question({
    id: 'limits.requestsPerSecond',
    asks: 'Requests a second that the contract allows',
    kind: 'whole number',
    isOptional: true,
  }),
  question({
    id: 'price.currency',
    asks: 'Currency of what a lookup costs, such as EUR; nothing where it is not to be told',
    isOptional: true,
  }),
  question({
    id: 'price.retrieve-date',
    asks: 'Price of a retrieve-date, such as 0.0215',
    standard: '0',
    isAsked: (draft) => draft['price'] !== undefined && offers('retrieve-date')(draft),
  }),
  question({
    id: 'price.check',
    asks: 'Price of a check, such as 0.0215',
    standard: '0',
    isAsked: (draft) => draft['price'] !== undefined && offers('check')(draft),
  }),
];
