import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Correlator } from '../http/correlator.ts';
import type { GuardedEndpoint } from '../http/resilience/guardedEndpoint.ts';
import type { Urgency } from '../http/urgency.ts';
import { judgeDirectoryReply, type DirectoryJudgement } from './responses.ts';

/** The company's number directory, which says which operator serves a number. Nothing of it is billed. */
export class NumberDirectory {
  readonly #endpoint: GuardedEndpoint;

  constructor(endpoint: GuardedEndpoint) {
    this.#endpoint = endpoint;
  }

  /** Asks it, `POST {phoneNumber}`, until the deadline. Never rejects. */
  async operatorOf(
    number: PhoneNumber,
    urgency: Urgency,
    correlator: Correlator,
  ): Promise<DirectoryJudgement> {
    const body = JSON.stringify({ phoneNumber: number });
    const { judged } = await this.#endpoint.post({
      about: number,
      urgency,
      make: () => ({
        headers: [],
        contentType: 'application/json',
        body,
        correlator: correlator.next(),
        signal: urgency.signal,
      }),
      judge: judgeDirectoryReply,
    });
    return judged;
  }
}
