import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Log } from '../log/log.ts';
import type { DirectoryJudgement } from '../operator/directoryReply.ts';
import type { NumberDirectorySettings } from '../operator/operatorSettings.ts';
import type { DirectoryAnswers } from './directoryAnswers.ts';
import { OUT_OF_TIME, type LookupRequest } from './lookupRoute.ts';
import { NOT_SERVED, type Operators, type RoutedOperator, type Routing } from './operators.ts';
import type { OperatorsByPrefix } from './operatorsByPrefix.ts';

export interface ByDirectoryParts {
  readonly answers: Pick<DirectoryAnswers, 'find' | 'ask'>;
  readonly fallback: NumberDirectorySettings['fallback'];
  readonly operators: OperatorsByPrefix;
  readonly kept?: RoutedOperator | undefined;
  readonly log: Log;
}

/** The operator that the company's number directory names, which is asked before any operator is. */
export class OperatorsByDirectory implements Operators {
  readonly #parts: ByDirectoryParts;

  constructor(parts: ByDirectoryParts) {
    this.#parts = parts;
  }

  get kept(): RoutedOperator | undefined {
    return this.#parts.kept;
  }

  of(number: PhoneNumber, request: LookupRequest): Routing | (() => Promise<Routing>) {
    const said = this.#parts.answers.find(number);
    return said === undefined ? () => this.#ask(number, request) : this.#routingOf(said, number);
  }

  async #ask(number: PhoneNumber, request: LookupRequest): Promise<Routing> {
    const said = await this.#parts.answers.ask(number, request);
    return said === undefined
      ? { kind: 'failed', failure: OUT_OF_TIME }
      : this.#routingOf(said, number);
  }

  #routingOf(said: DirectoryJudgement, number: PhoneNumber): Routing {
    const { operators, log } = this.#parts;
    switch (said.kind) {
      case 'failed':
        return this.#withoutDirectory(number);
      case 'none':
        return NOT_SERVED;
      case 'named': {
        const named = operators.named(said.operator);
        // The name itself is not logged: it came from outside, and may be anything.
        if (named === undefined) log.error(UNKNOWN_OPERATOR, { setting: 'directory' });
        return named ?? NOT_SERVED;
      }
    }
  }

  #withoutDirectory(number: PhoneNumber): Routing {
    const { fallback, operators } = this.#parts;
    switch (fallback) {
      case 'none':
        return DIRECTORY_DOWN;
      case 'prefix':
        return operators.of(number);
    }
  }
}

const UNKNOWN_OPERATOR =
  'The number directory names an operator that is not in OPERATORS_FILE: its numbers are not served.';

/** Nothing is known of who serves the number, so that no operator is asked. */
const DIRECTORY_DOWN: Routing = {
  kind: 'failed',
  failure: { code: 'OPERATOR_UNAVAILABLE', reach: 'number' },
};
