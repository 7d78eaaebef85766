import { parseMaxAge, type Lookup } from '../src/domain/question.ts';
import type { PhoneNumber } from '../src/domain/phoneNumber.ts';
import { ENDPOINT_LABELS } from '../src/operator/operatorEndpoint.ts';
import type { OperatorSettings } from '../src/operator/operatorSettings.ts';
import { AccessToken, type TokenSubject } from '../src/tokens/accessToken.ts';
import { promptsOwner, scopeOf } from '../src/tokens/authorizationSettings.ts';
import { readClientReply } from './clientReply.ts';
import type { Finding } from './finding.ts';
import { judgeCredentials, judgeScopes } from './judgeClient.ts';
import { judgeConsent, type ConsentProbe } from './judgeConsent.ts';
import { isBilled, judgeBill, judgeLookup, type LookupTrial } from './judgeLookup.ts';
import { judgeMismatch, mismatchNotTried, whyMismatchIsHarmless } from './judgeMismatch.ts';
import type { CheckParts, OperatorUnderCheck } from './operatorUnderCheck.ts';
import { exchangeContext } from './singleExchange.ts';

/** The numbers of a trial. */
export interface NumberTrial {
  readonly number: PhoneNumber;
  /** Named in a lookup with a token of the first. */
  readonly otherNumber?: PhoneNumber | undefined;
  /** Whether the owner may be prompted, in the 3-legged flow. */
  readonly mayPrompt: boolean;
}

/** The outcome of a trial. */
export interface TrialFindings {
  readonly findings: readonly Finding[];
  readonly billedLookups: number;
}

/** The longest wait for an owner. */
const MAX_CONSENT_WAIT_SECONDS = 120;

/** The window of a `check`, unless the operator's largest is smaller: CAMARA's own default. */
const WINDOW_HOURS = 240;

/** Looks a number up once; with another number, that one too, and then that one with the token of the first. */
export async function tryNumber(
  checked: OperatorUnderCheck,
  trial: NumberTrial,
  parts: CheckParts,
): Promise<TrialFindings> {
  const made = new Trials(checked, parts);
  const findings = promptsOwner(checked.settings.flow)
    ? await made.withConsent(trial)
    : await made.withTokens(trial);
  const { lookups: trials } = made;
  const bill = trials.length === 0 ? [] : [judgeBill(trials, checked.settings.price)];
  return { findings: [...findings, ...bill], billedLookups: trials.filter(isBilled).length };
}

/** Tokens and lookups of one check. */
class Trials {
  /** The lookups that were sent. */
  readonly lookups: LookupTrial[] = [];
  readonly #checked: OperatorUnderCheck;
  readonly #parts: CheckParts;
  readonly #lookup: Lookup;

  constructor(checked: OperatorUnderCheck, parts: CheckParts) {
    this.#checked = checked;
    this.#parts = parts;
    this.#lookup = lookupOf(checked.settings);
  }

  async withTokens({ number, otherNumber }: NumberTrial): Promise<readonly Finding[]> {
    const { settings } = this.#checked;
    const { tokenMismatch } = settings;
    const first = await this.#acquireAndLookUp(number);
    if (first === undefined) return [this.#noToken()];
    const rows = [judgeLookup(first, settings)];
    if (otherNumber === undefined) return rows;
    const idle = whyMismatchIsHarmless(this.#checked.settings);
    if (idle !== undefined) return [...rows, mismatchNotTried(`does not matter: ${idle}`)];
    if (first.failure !== undefined)
      return [...rows, mismatchNotTried('needs an answer about --number')];
    const other = await this.#acquireAndLookUp(otherNumber);
    if (other === undefined || other.failure !== undefined) {
      return [...rows, mismatchNotTried('needs an answer about --other-number with its own token')];
    }
    const crossed = await this.#acquireAndLookUp(otherNumber, number);
    return [
      ...rows,
      crossed === undefined
        ? mismatchNotTried('the operator issued no further token')
        : judgeMismatch(crossed, tokenMismatch),
    ];
  }

  async withConsent({ number, otherNumber, mayPrompt }: NumberTrial): Promise<readonly Finding[]> {
    const idle = whyMismatchIsHarmless(this.#checked.settings) ?? '';
    const mismatch =
      otherNumber === undefined ? [] : [mismatchNotTried(`does not matter: ${idle}`)];
    if (!mayPrompt) return [judgeConsent({ kind: 'not allowed' }), ...mismatch];
    const { probe, token } = await this.#consent(number);
    const rows = [judgeConsent(probe), ...this.#scopesRow(token), ...mismatch];
    if (token === undefined) return rows;
    const trial = await this.#lookUp(number, token);
    return [...rows, judgeLookup(trial, this.#checked.settings)];
  }

  /** @param tokenNumber the number that the token is issued for; the number itself where absent */
  async #acquireAndLookUp(
    number: PhoneNumber,
    tokenNumber: PhoneNumber = number,
  ): Promise<LookupTrial | undefined> {
    const acquired = await this.#checked.tokens.acquire(
      this.#subject(tokenNumber),
      this.#context(),
    );
    switch (acquired.kind) {
      case 'failed':
        return undefined;
      case 'acquired':
        return this.#lookUp(
          number,
          tokenNumber === number ? acquired.token : readdressed(acquired.token, number),
        );
    }
  }

  #subject(number: PhoneNumber): TokenSubject {
    return { number, operation: this.#lookup.operation, purpose: this.#checked.purpose };
  }

  async #lookUp(number: PhoneNumber, token: AccessToken): Promise<LookupTrial> {
    const { operator, exchanges } = this.#checked;
    const lookup = this.#lookup;
    const { judged } = await operator.lookUp({ lookup, number, token }, this.#context());
    const { operation } = lookup;
    const { exchange = NOT_SENT } =
      operation === 'check' ? exchanges.check : exchanges.retrieveDate;
    const trial: LookupTrial =
      judged.kind === 'answered'
        ? { operation, exchange }
        : { operation, exchange, failure: judged.failure, flaw: judged.flaw };
    this.lookups.push(trial);
    return trial;
  }

  /** One prompt; then polls at the operator's interval, until it is over. */
  async #consent(number: PhoneNumber): Promise<{ probe: ConsentProbe; token?: AccessToken }> {
    const { tokens } = this.#checked;
    const subject = this.#subject(number);
    const { judged } = await tokens.requestConsent(subject, this.#context());
    switch (judged.kind) {
      case 'reply-lost':
        return { probe: { kind: 'reply lost' } };
      case 'failed': {
        const { code } = judged.failure;
        return {
          probe: { kind: 'refused', code, statement: this.#statedBy('backchannelAuthentication') },
        };
      }
      case 'acknowledged':
        return this.#poll(subject, judged.acknowledged);
    }
  }

  async #poll(
    subject: TokenSubject,
    acknowledged: { authReqId: string; expiresInSeconds: number; intervalSeconds: number },
  ): Promise<{ probe: ConsentProbe; token?: AccessToken }> {
    const { clock } = this.#parts;
    const { authReqId, expiresInSeconds: expiresIn, intervalSeconds: interval } = acknowledged;
    const endsAtMs = clock.monotonicMs() + Math.min(expiresIn, MAX_CONSENT_WAIT_SECONDS) * 1000;
    let intervalMs = interval * 1000;
    let pauseMs = pollsAtOnce(this.#checked.settings) ? 0 : intervalMs;
    for (let polls = 1; ; polls += 1) {
      await clock.sleep(pauseMs);
      const polled = await this.#checked.tokens.poll(authReqId, subject, this.#context());
      const over = {
        kind: 'over',
        interval,
        expiresIn,
        polls,
        statement: this.#statedBy('cibaToken'),
      } as const;
      switch (polled.kind) {
        case 'issued': {
          const { token } = this.#checked.tokens.rightTo(subject, polled.issued);
          return { probe: { ...over, end: 'granted' }, token };
        }
        case 'failed':
          return { probe: { ...over, end: polled.failure.code } };
        case 'go-on':
          // OpenID CIBA Core §11.
          if (polled.goOn === 'slow_down') intervalMs += 5000;
          pauseMs = Math.max(intervalMs, (polled.retryAfterSeconds ?? 0) * 1000);
      }
      if (clock.monotonicMs() + pauseMs >= endsAtMs) {
        return { probe: { ...over, end: 'not answered' } };
      }
    }
  }

  #scopesRow(token: AccessToken | undefined): readonly Finding[] {
    if (token === undefined) return [];
    const { settings } = this.#checked;
    const reply = this.#replyOf('cibaToken');
    const { operation } = this.#lookup;
    const wanted = scopeOf(settings.scopes, { operation, purpose: this.#checked.purpose });
    return [judgeScopes(ENDPOINT_LABELS.cibaToken, [{ wanted, reply }])];
  }

  /** What prevents the operator from issuing a token: the number, or our request. */
  #noToken(): Finding {
    const { settings, exchanges } = this.#checked;
    const nowMs = this.#parts.clock.nowMs();
    const reply = readClientReply(exchanges.token.exchange, settings, nowMs);
    if (reply.standing === 'number refused') return NO_TOKEN;
    const { advice } = judgeCredentials('token', '', reply, settings);
    const row = { ...NO_TOKEN, found: `no token: ${reply.statement}` };
    return advice === undefined ? row : { ...row, advice };
  }

  #statedBy(endpoint: 'backchannelAuthentication' | 'cibaToken'): string {
    return this.#replyOf(endpoint).statement;
  }

  #replyOf(endpoint: 'backchannelAuthentication' | 'cibaToken') {
    const { settings, exchanges } = this.#checked;
    return readClientReply(exchanges[endpoint].exchange, settings, this.#parts.clock.nowMs());
  }

  #context() {
    return exchangeContext(this.#parts.clock, this.#parts.timeoutMs);
  }
}

const NO_TOKEN: Finding = {
  step: 'lookup',
  at: '',
  verdict: 'failed',
  found: 'no token for this number',
  advice: 'The operator issued no token for the number: use a number of its own.',
};

const NOT_SENT = {
  kind: 'fault',
  fault: { cause: 'connection', sent: false, detail: 'not sent' },
} as const;

function lookupOf({ operations, maxAgeHours }: OperatorSettings): Lookup {
  const window = parseMaxAge(Math.min(WINDOW_HOURS, maxAgeHours));
  return operations.has('check') && window.kind === 'parsed'
    ? { operation: 'check', maxAgeHours: window.value }
    : { operation: 'retrieve-date' };
}

function pollsAtOnce({ grant }: OperatorSettings): boolean {
  return grant.type === 'ciba' && grant.firstPoll === 'at-once';
}

/** The same token for a lookup about another number, which the service itself never makes. */
function readdressed(token: AccessToken, number: PhoneNumber): AccessToken {
  const value = token.spend(token.subject);
  return new AccessToken({ ...token.subject, number }, value, undefined);
}
