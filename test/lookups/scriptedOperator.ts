import type { Fact } from '../../src/domain/fact.ts';
import type { Lookup, Operation } from '../../src/domain/question.ts';
import type { LookupFailure } from '../../src/domain/errors.ts';
import type { LookupOrder } from '../../src/operator/operator.ts';
import type { Judgement } from '../../src/operator/responses.ts';
import { AccessToken, type TokenSubject } from '../../src/tokens/accessToken.ts';
import type { Polled, RequestedConsent } from '../../src/tokens/tokenManager.ts';
import type { AcknowledgementJudgement, IssuedToken } from '../../src/tokens/tokenResponses.ts';
import type { TestClock } from '../support/testClock.ts';

/** An operator whose answers are scripted, in the order of the requests; the last of each is repeated. */
export class ScriptedOperator {
  readonly prompts: { at: number; operation: Operation }[] = [];
  readonly polls: { at: number; authReqId: string }[] = [];
  readonly lookups: { at: number; lookup: Lookup }[] = [];
  acknowledgements: AcknowledgementJudgement[] = [];
  polled: (Polled | 'granted')[] = ['granted'];
  looked: (Fact | LookupFailure)[] = [];
  /** How long each exchange takes. */
  latencyMs = 0;
  /** `expires_in`, where the operator says it. */
  tokenSeconds: number | undefined;
  /** Whether tokens are bound to no other process's key. */
  isHolder = true;
  /** Lookups that do not leave, and why. */
  unsent: LookupFailure | undefined;
  readonly #clock: TestClock;
  readonly #startedAtMs: number;

  constructor(clock: TestClock) {
    this.#clock = clock;
    this.#startedAtMs = clock.monotonicMs();
  }

  /** The operations that consents were requested for. */
  get prompted(): readonly Operation[] {
    return this.prompts.map(({ operation }) => operation);
  }

  async requestConsent({ operation }: TokenSubject): Promise<RequestedConsent> {
    this.prompts.push({ at: this.#elapsedMs(), operation });
    await this.#takeTime();
    const judged = this.acknowledgements.shift() ?? {
      kind: 'acknowledged',
      acknowledged: {
        authReqId: `request-${this.prompts.length}`,
        expiresInSeconds: 120,
        intervalSeconds: 2,
      },
    };
    return { judged, attempts: 1 };
  }

  async poll(authReqId: string): Promise<Polled> {
    this.polls.push({ at: this.#elapsedMs(), authReqId });
    await this.#takeTime();
    const next = nextOf(this.polled);
    return next === 'granted' || next === undefined
      ? { kind: 'issued', issued: { value: 'token', leftAtMs: 0, ...this.#expiry() } }
      : next;
  }

  holds(): boolean {
    return this.isHolder;
  }

  rightTo(subject: TokenSubject, { value }: IssuedToken) {
    return { kind: 'acquired', token: new AccessToken(subject, value, undefined) } as const;
  }

  async lookUp({ lookup, token, number }: LookupOrder) {
    token.spend({ number, operation: lookup.operation });
    const { unsent } = this;
    if (unsent !== undefined) {
      const judged = { kind: 'failed', failure: unsent } as const;
      return { judged, attempts: 0, mayHaveBeenCarriedOut: false, mayRetryWithNewToken: false };
    }
    this.lookups.push({ at: this.#elapsedMs(), lookup });
    await this.#takeTime();
    const next = nextOf(this.looked) ?? neverSwapped(lookup, this.#clock.nowMs());
    const judged: Judgement<Fact> =
      'operation' in next ? { kind: 'answered', facts: [next] } : { kind: 'failed', failure: next };
    return { judged, attempts: 1, mayHaveBeenCarriedOut: true, mayRetryWithNewToken: false };
  }

  #expiry() {
    const { tokenSeconds } = this;
    if (tokenSeconds === undefined) return {};
    return { expiresAtMs: this.#clock.monotonicMs() + tokenSeconds * 1000 };
  }

  #elapsedMs(): number {
    return this.#clock.monotonicMs() - this.#startedAtMs;
  }

  async #takeTime(): Promise<void> {
    if (this.latencyMs > 0) await this.#clock.sleep(this.latencyMs);
  }
}

function nextOf<T>(script: T[]): T | undefined {
  return script.length > 1 ? script.shift() : script[0];
}

function neverSwapped(lookup: Lookup, sentAtMs: number): Fact {
  return lookup.operation === 'check'
    ? { ...lookup, swapped: false, sentAtMs }
    : { ...lookup, latestSimChange: null, sentAtMs };
}
