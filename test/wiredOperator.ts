import type { ServerResponse } from 'node:http';
import type { TlsOptions } from 'node:tls';
import {
  answerJson,
  RecordingServer,
  type Answer,
  type Connection,
  type Received,
} from './http/recordingServer.ts';

/** What the operator does in place of its answers. */
export interface OperatorScript {
  /** To bc-authorize; acknowledged where absent. */
  readonly authorize?: Answer;
  /** To a token request of either flow; granted where absent. */
  readonly token?: Answer;
  /** To a lookup; `{ swapped: false }` or a date of long ago where absent. */
  readonly lookUp?: Answer;
}

/** What the operator is asked for: a prompt rings a phone, and a lookup is billed. */
export type Asked = 'prompts' | 'tokens' | 'lookups';

/** How every token begins, so that one search finds those that got out. */
export const TOKEN_MARK = 'operator-token';
const LONG_AGO = '2010-01-01T00:00:00Z';

/** An operator at the end of a wire that can be watched, and that does what its script says. */
export class WiredOperator implements AsyncDisposable {
  script: OperatorScript;
  readonly #server: RecordingServer;

  private constructor(server: RecordingServer, script: OperatorScript) {
    this.#server = server;
    this.script = script;
  }

  /** @param tls how TLS is spoken; plain text is where absent */
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

  /** What came, in turn. */
  get received(): readonly Received[] {
    return this.#server.received;
  }

  get connections(): readonly Connection[] {
    return this.#server.connections;
  }

  /** What came of one kind, in turn. */
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

  /** The settings by which a server asks this operator. */
  get settings(): Readonly<Record<string, string>> {
    return {
      OPERATOR_AUTH_URL: this.url,
      OPERATOR_SIM_SWAP_URL: this.url,
      OPERATOR_CLIENT_ID: 'attacked',
      OPERATOR_CLIENT_SECRET: 'kept-secret-of-the-operator',
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }

  #of(asked: Asked): readonly Received[] {
    return this.received.filter(({ path }) => askedBy(path) === asked);
  }

  #answer(received: Received, response: ServerResponse): void {
    const { authorize, token, lookUp } = this.script;
    switch (askedBy(received.path)) {
      case 'prompts':
        (authorize ?? acknowledge)(received, response);
        return;
      case 'tokens':
        (token ?? grant)(received, response);
        return;
      case 'lookups':
        (lookUp ?? answerNever)(received, response);
        return;
    }
  }
}

function askedBy(address: string): Asked {
  const path = withoutQuery(address);
  if (path.endsWith('/bc-authorize')) return 'prompts';
  return path.endsWith('/token') ? 'tokens' : 'lookups';
}

function withoutQuery(address: string): string {
  return address.split('?')[0] ?? address;
}

export function acknowledge(received: Received, response: ServerResponse): void {
  const auth_req_id = `consent-${received.correlator}`;
  answerJson(received, response, { auth_req_id, expires_in: 60, interval: 1 });
}

/** Grants a token that no other request gets. */
export function grant(received: Received, response: ServerResponse): void {
  const access_token = `${TOKEN_MARK}-${received.correlator}`;
  answerJson(received, response, { access_token, token_type: 'Bearer', expires_in: 60 });
}

/** Pending for ever: the owner does not look at the phone. */
export function pend(received: Received, response: ServerResponse): void {
  answerJson(received, response, { error: 'authorization_pending' }, 400);
}

/** The SIM was never swapped. */
export function answerNever(received: Received, response: ServerResponse): void {
  const isCheck = withoutQuery(received.path).endsWith('/check');
  answerJson(received, response, isCheck ? { swapped: false } : { latestSimChange: LONG_AGO });
}

/** Status 200 with a body as it is, under the correlator that came. */
export function answerText(
  { correlator }: Received,
  response: ServerResponse,
  body: string,
  type = 'application/json',
): void {
  response.writeHead(200, { 'content-type': type, 'x-correlator': correlator });
  response.end(body);
}
