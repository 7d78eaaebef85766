import { parsePhoneNumber, type PhoneNumber } from '../src/domain/phoneNumber.ts';
import { ENDPOINT_LABELS } from '../src/operator/operatorEndpoint.ts';
import { promptsOwner, scopeOf } from '../src/tokens/authorizationSettings.ts';
import type { NumberTrial } from './tryNumber.ts';
import { readClientReply } from './clientReply.ts';
import type { Finding } from './finding.ts';
import { judgeClock, judgeCredentials, judgeScopes, type ScopeTrial } from './judgeClient.ts';
import type { CheckParts, OperatorUnderCheck } from './operatorUnderCheck.ts';
import { exchangeContext } from './singleExchange.ts';

/** What is needed to check a client; with a number, tokens are requested for it. */
export type ClientTrialParts = Pick<CheckParts, 'clock' | 'timeoutMs'> & {
  readonly number?: NumberTrial | undefined;
};

/** Checks whether the operator knows our client, and what it allows it. */
export function tryClient(
  checked: OperatorUnderCheck,
  trial: ClientTrialParts,
): Promise<readonly Finding[]> {
  if (checked.settings.grant.type === 'none') return Promise.resolve([NO_TOKEN_STEP]);
  return promptsOwner(checked.settings.flow) ? tryPoll(checked, trial) : tryTokens(checked, trial);
}

/** Requests a token for each scope; no lookup is made with them. */
async function tryTokens(
  checked: OperatorUnderCheck,
  { number, clock, timeoutMs }: ClientTrialParts,
): Promise<readonly Finding[]> {
  const { settings, purpose, tokens, exchanges } = checked;
  const byScope = new Map(
    [...settings.operations].map((operation) => [
      scopeOf(settings.scopes, { operation, purpose }),
      operation,
    ]),
  );
  const trials: ScopeTrial[] = [];
  for (const [wanted, operation] of byScope) {
    const subject = { number: number?.number ?? NUMBER_OF_NOBODY, operation, purpose };
    await tokens.acquire(subject, exchangeContext(clock, timeoutMs));
    const reply = readClientReply(exchanges.token.exchange, settings, clock.nowMs());
    trials.push({ wanted, reply });
  }
  const [first] = trials;
  if (first === undefined) return [];
  const at = ENDPOINT_LABELS.token;
  // A client that cannot have one scope may still be known.
  const decisive = trials.find(({ reply }) => reply.standing !== 'scope refused') ?? first;
  return [
    judgeCredentials('token', at, decisive.reply, settings),
    judgeScopes(at, trials),
    ...judgeClock(at, first.reply),
  ];
}

/** Polls for a request that was never made: this proves our client, and prompts no owner. */
async function tryPoll(
  checked: OperatorUnderCheck,
  { number, clock, timeoutMs }: ClientTrialParts,
): Promise<readonly Finding[]> {
  const { settings, purpose, tokens, exchanges } = checked;
  const [operation = 'check'] = settings.operations;
  const subject = { number: NUMBER_OF_NOBODY, operation, purpose };
  const context = exchangeContext(clock, timeoutMs);
  await tokens.poll(`never-requested-${context.correlator.name}`, subject, context);
  const reply = readClientReply(exchanges.cibaToken.exchange, settings, clock.nowMs());
  const at = ENDPOINT_LABELS.cibaToken;
  const scopes = number === undefined ? [SCOPES_NEED_OWNER] : [];
  return [judgeCredentials('poll', at, reply, settings), ...scopes, ...judgeClock(at, reply)];
}

const NO_TOKEN_STEP: Finding = {
  step: 'credentials',
  at: '',
  verdict: 'not tried',
  found: 'judged once a number is looked up, since there is no token step: use --number',
};

const SCOPES_NEED_OWNER: Finding = {
  step: 'scopes',
  at: ENDPOINT_LABELS.backchannelAuthentication,
  verdict: 'not tried',
  found: 'judged once an owner is prompted: use --number',
};

/** Ofcom reserves the range of this number for fiction: it will never be assigned. */
const NUMBER_OF_NOBODY = fictional('+447700900000');

function fictional(text: string): PhoneNumber {
  const parsed = parsePhoneNumber(text);
  if (parsed.kind === 'refused') throw new Error('The fictional number is not a number.');
  return parsed.value;
}
