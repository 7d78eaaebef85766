import type { ServerResponse } from 'node:http';
import { RecordingServer, type Received } from '../wire/recordingServer.ts';

/** What a value must be: this very text or number, of this form, an object of these members and no others, or what the function takes. */
export type Must =
  | string
  | number
  | RegExp
  | { readonly [member: string]: Must }
  | ((value: unknown, asked: Asked) => boolean | Promise<boolean>);

/** What an operator answers. */
export interface StrictReply {
  readonly status: number;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What is known of a request when its parts are compared. */
export interface Asked {
  readonly operator: StrictOperator;
  readonly received: Received;
  /** Groups of the path's form. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: string;
  /** The body as it was written: members of a form, or JSON. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** One endpoint, as the operator's papers have it. */
export interface StrictEndpoint {
  readonly asks: 'discovery' | 'prompt' | 'token' | 'lookup';
  readonly method: 'GET' | 'POST';
  readonly path: RegExp;
  /** Without its question mark; none where absent. */
  readonly query?: string;
  /** Headers that must be there, beside those of every HTTP client. */
  readonly headers: Readonly<Record<string, Must>>;
  /** Headers that must not be there. */
  readonly without?: readonly string[];
  /** Of the groups of the path. */
  readonly number?: Must;
  /** `none` where no body may be sent. */
  readonly body: 'none' | { readonly form: Must } | { readonly json: Must };
  /** Called once all of the request is as it must be. */
  readonly answer: (asked: Asked) => StrictReply;
}

/** An operator's papers: what requests must be, how others are refused, and what is answered. */
export interface Papers {
  readonly endpoints: readonly StrictEndpoint[];
  /** How a request is refused whose part of this name is not as it must be, such as `authorization`. */
  readonly refuse: (part: string) => StrictReply;
  /** A header of each request that its reply repeats. */
  readonly echoes?: string;
}

/** An operator that answers what is exactly as its papers have it, and refuses and writes down everything else. */
export class StrictOperator implements AsyncDisposable {
  /** Where it is, without a slash at the end. */
  readonly url: string;
  /** What was not as it must be, in turn: the endpoint, and the part of the request. */
  readonly refused: string[] = [];
  /** Requests that were answered with 200. */
  readonly answered = { discovery: 0, prompt: 0, token: 0, lookup: 0 };
  /** What is answered once in place of the papers' answer to the next lookups, in turn. */
  readonly script: StrictReply[] = [];
  /** Whatever counts once: a `jti`, a token. */
  readonly #used = new Set<string>();
  readonly #server: RecordingServer;
  readonly #papers: Papers;

  private constructor(server: RecordingServer, papers: Papers) {
    this.#server = server;
    this.#papers = papers;
    this.url = server.url;
  }

  static async start(papers: Papers): Promise<StrictOperator> {
    const server = await RecordingServer.start((received, response) => {
      void operator.#answer(received, response);
    });
    const operator = new StrictOperator(server, papers);
    return operator;
  }

  /** What came, in turn. */
  get received(): readonly Received[] {
    return this.#server.received;
  }

  /** Whether this counts for the first time. */
  isFresh(value: unknown): boolean {
    const isFresh = typeof value === 'string' && value !== '' && !this.#used.has(value);
    if (isFresh) this.#used.add(value);
    return isFresh;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }

  async #answer(received: Received, response: ServerResponse): Promise<void> {
    const { status, body, headers } = await this.#replyTo(received);
    const { echoes = 'x-correlator' } = this.#papers;
    const echo = received.headers[echoes];
    response.writeHead(status, {
      'content-type': 'application/json',
      ...(echo === undefined ? {} : { [echoes]: echo }),
      ...headers,
    });
    response.end(JSON.stringify(body));
  }

  async #replyTo(received: Received): Promise<StrictReply> {
    const [address = '', query = ''] = received.path.split('?');
    const there = this.#papers.endpoints.filter(({ path }) => path.test(address));
    const endpoint = there.find(({ method }) => method === received.method);
    if (endpoint === undefined) {
      return this.#refuse(received.method, there.length === 0 ? 'path' : 'method');
    }
    const asked: Asked = {
      operator: this,
      received,
      path: endpoint.path.exec(address)?.groups ?? {},
      query,
      body: bodyOf(endpoint, received),
    };
    const wrong = await wrongPart(endpoint, asked);
    if (wrong !== undefined) return this.#refuse(endpoint.asks, wrong);
    const scripted = endpoint.asks === 'lookup' ? this.script.shift() : undefined;
    const reply = scripted ?? endpoint.answer(asked);
    if (reply.status === 200) this.answered[endpoint.asks] += 1;
    return reply;
  }

  #refuse(asks: string, part: string): StrictReply {
    this.refused.push(`${asks}: ${part}`);
    return this.#papers.refuse(part);
  }
}

/** Which part of a request is not as it must be. */
async function wrongPart(endpoint: StrictEndpoint, asked: Asked): Promise<string | undefined> {
  const { headers, body: text } = asked.received;
  for (const [name, must] of Object.entries(endpoint.headers)) {
    if (!(await fits(must, headers[name], asked))) return name;
  }
  if (asked.query !== (endpoint.query ?? '')) return 'query';
  if (endpoint.number !== undefined && !(await fits(endpoint.number, asked.path, asked))) {
    return 'number';
  }
  const surplus = endpoint.without?.find((name) => headers[name] !== undefined);
  if (surplus !== undefined) return surplus;
  const { body } = endpoint;
  if (body === 'none') return text === '' ? undefined : 'body';
  const [must, type] =
    'form' in body
      ? [body.form, 'application/x-www-form-urlencoded']
      : [body.json, 'application/json'];
  if (headers['content-type'] !== type) return 'content-type';
  return (await fits(must, asked.body, asked)) ? undefined : 'body';
}

async function fits(must: Must, value: unknown, asked: Asked): Promise<boolean> {
  if (typeof must === 'function') return must(value, asked);
  if (must instanceof RegExp) return typeof value === 'string' && must.test(value);
  if (typeof must !== 'object') return value === must;
  if (typeof value !== 'object' || value === null) return false;
  const names = Object.keys(must);
  if (Object.keys(value).some((name) => !names.includes(name))) return false;
  for (const name of names) {
    const part = must[name];
    if (part === undefined) continue;
    if (!(await fits(part, (value as Readonly<Record<string, unknown>>)[name], asked)))
      return false;
  }
  return true;
}

function bodyOf(
  { body }: StrictEndpoint,
  { body: text }: Received,
): Readonly<Record<string, unknown>> {
  if (body === 'none') return {};
  if ('form' in body) return Object.fromEntries(new URLSearchParams(text));
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
}
