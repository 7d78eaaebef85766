import type { ServerResponse } from 'node:http';
import type { TlsOptions } from 'node:tls';
import {
  answerJson,
  RecordingServer,
  type Answer,
  type Connection,
  type Received,
} from '../wire/recordingServer.ts';
import { askedOf, endsWith, OperatorBooks, type Asked, type Offence } from './operatorBooks.ts';

/** What the operator does in place of its answers. */
export interface OperatorScript {
  /** To bc-authorize; acknowledged where absent. */
  readonly authorize?: Answer;
  /** To a token request of either flow; granted where absent. */
  readonly token?: Answer;
  /** To a lookup; `{ swapped: false }` or a date of long ago where absent. */
  readonly lookUp?: Answer;
  /** Offences that are the purpose of the test. */
  readonly forgives?: readonly Offence[];
}

/** Every token begins with it, so that one search finds leaks. */
export const TOKEN_MARK = 'operator-token';
const OF_TIMING: readonly Offence[] = ['earlyPolls', 'overlappingPolls', 'tokensPastTheirEnd'];
const LONG_AGO = '2010-01-01T00:00:00Z';

/** An operator that does what its script says, and records its connections and requests. */
export class WiredOperator implements AsyncDisposable {
  script: OperatorScript;
  /** Its offences, whatever its script says. */
  readonly books = new OperatorBooks();
  readonly #server: RecordingServer;

  private constructor(server: RecordingServer, script: OperatorScript) {
    this.#server = server;
    this.script = script;
  }

  /** @param tls plain text where absent */
  static async start(script: OperatorScript = {}, tls?: TlsOptions): Promise<WiredOperator> {
    let serve: Answer = acknowledge;
    const server = await RecordingServer.start(
      (received, response) => serve(received, response),
      tls,
    );
    const operator = new WiredOperator(server, script);
    serve = (received, response) => operator.#answer(received, response);
    return operator;
  }

  get url(): string {
    return this.#server.url;
  }

  set tls(tls: TlsOptions) {
    this.#server.tls = tls;
  }

  get received(): readonly Received[] {
    return this.#server.received;
  }

  get connections(): readonly Connection[] {
    return this.#server.connections;
  }

  get prompts(): readonly Received[] {
    return this.#of('prompts');
  }

  get tokens(): readonly Received[] {
    return this.#of('tokens');
  }

  get lookups(): readonly Received[] {
    return this.#of('lookups');
  }

  count(asked: Asked): number {
    return this.#of(asked).length;
  }

  get settings(): Readonly<Record<string, string>> {
    return {
      OPERATOR_AUTH_URL: this.url,
      OPERATOR_SIM_SWAP_URL: this.url,
      OPERATOR_CLIENT_ID: 'attacked',
      OPERATOR_CLIENT_SECRET: 'kept-secret-of-the-operator',
    };
  }

  /** Fails on offences, but for those that a busy machine can cause. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
    const forgiven = [...OF_TIMING, ...(this.script.forgives ?? [])];
    const offences = this.books.offences.filter((one) => !forgiven.includes(one));
    if (offences.length > 0) throw new Error(`Done to the operator: ${offences.join(', ')}`);
  }

  #of(asked: Asked): readonly Received[] {
    return this.received.filter(({ path }) => askedOf(path) === asked);
  }

  #answer(received: Received, response: ServerResponse): void {
    this.books.came(received);
    const end = response.end.bind(response);
    response.end = (...said: unknown[]) => {
      const body = typeof said[0] === 'string' ? said[0] : '';
      this.books.answered(received, response.statusCode, body);
      return Reflect.apply(end, response, said);
    };
    const { authorize, token, lookUp } = this.script;
    const scripted = { prompts: authorize, tokens: token, lookups: lookUp };
    (scripted[askedOf(received.path)] ?? answerRightly)(received, response);
  }
}

export function throughout(answer: Answer): OperatorScript {
  return { authorize: answer, token: answer, lookUp: answer };
}

export function replying(body: unknown, status = 200): Answer {
  return (received, response) => answerJson(received, response, body, status);
}

/** Answers `check` with the first, and `retrieve-date` with the second; the date is withheld where absent. */
export function lookingUp(
  check: Answer,
  date: Answer = replying({ latestSimChange: null }),
): Answer {
  return (received, response) =>
    (endsWith(received.path, '/check') ? check : date)(received, response);
}

/** An operator that withholds dates; the SIM of each of its numbers was swapped 100 hours ago. */
export const WITHHOLDS_DATES: OperatorScript = {
  forgives: ['tokensUsedTwice'],
  lookUp: lookingUp((received, response) => {
    const { maxAge } = JSON.parse(received.body) as { maxAge: number };
    answerJson(received, response, { swapped: maxAge >= 100 });
  }),
};

export function answerRightly(received: Received, response: ServerResponse): void {
  const answers = { prompts: acknowledge, tokens: grant, lookups: answerNever };
  answers[askedOf(received.path)](received, response);
}

export function acknowledge(received: Received, response: ServerResponse): void {
  const auth_req_id = `consent-${received.correlator}`;
  answerJson(received, response, { auth_req_id, expires_in: 60, interval: 1 });
}

export function grant(received: Received, response: ServerResponse): void {
  const access_token = `${TOKEN_MARK}-${received.correlator}`;
  answerJson(received, response, { access_token, token_type: 'Bearer', expires_in: 60 });
}

/** Pending for ever. */
export function pend(received: Received, response: ServerResponse): void {
  answerJson(received, response, { error: 'authorization_pending' }, 400);
}

export function answerNever(received: Received, response: ServerResponse): void {
  const isCheck = endsWith(received.path, '/check');
  answerJson(received, response, isCheck ? { swapped: false } : { latestSimChange: LONG_AGO });
}

/** Status 200 with this body and the correlator of the request. */
export function answerText(
  { correlator }: Received,
  response: ServerResponse,
  body: string,
  type = 'application/json',
): void {
  response.writeHead(200, { 'content-type': type, 'x-correlator': correlator });
  response.end(body);
}
