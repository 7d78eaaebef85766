import { describe, it } from 'vitest';
import { IS_LONG } from '../forms.ts';
import { Authority, demanding } from '../tls/authority.ts';
import type { Certificate } from '../tls/certificate.ts';
import { TemporaryFiles } from '../temporary.ts';
import { answerJson, type Answer } from '../http/recordingServer.ts';
import { acknowledge, grant, pend, WiredOperator } from '../wiredOperator.ts';
import { ServerProcess } from '../endToEnd/serverProcess.ts';

const SECRETS_READ = 'Files have changed and were read again: what they hold is in force.';
const CONNECTION_FILES_READ = 'The TLS and proxy files were read again: new connections use them.';
const CONNECTION_FILES_REFUSED =
  'The TLS or proxy files have changed and cannot be used: the old ones stay in force.';

/** In flight all the time. */
const REQUESTS = 100;
/** How long each reply takes. */
const REPLY_MS = 30;
/** Asked about in turn, first for one purpose, then for the next: each pair takes one consent. */
const NUMBERS = Array.from({ length: 1000 }, (_, i) => `+447700900${String(i).padStart(3, '0')}`);
const PURPOSES = Array.from({ length: 400 }, (_, i) => `purpose-${i}`);

/** Everything that is rotated, as the two sides know it. */
class Rotation {
  readonly files = new TemporaryFiles();
  readonly operator: WiredOperator;
  /** What the operator refused. */
  readonly refusals: string[] = [];
  /** Those that count. */
  readonly #secrets = new Set<string>();
  readonly #flow: string;
  #count = 0;
  #secret = 'the-first-secret';
  #clients: Authority;
  #client: Certificate;
  #servers: Authority;
  #server: Certificate;
  #trusted: readonly Authority[];

  constructor(operator: WiredOperator, trust: Trust, flow: string) {
    this.operator = operator;
    this.#flow = flow;
    this.#clients = trust.clients;
    this.#client = trust.clients.issue({ name: 'sim-swap' });
    this.#servers = trust.servers;
    this.#server = trust.server;
    this.#trusted = [trust.servers];
    this.#secrets.add(this.#secret);
    const { books } = operator;
    operator.script = {
      authorize: this.#toThoseWhoKnow(acknowledge),
      // The owner looks at the phone by then: the first poll, which comes at once, finds nothing.
      token: this.#toThoseWhoKnow((received, response) =>
        (books.consentOf(received)?.polls === 1 ? pend : grant)(received, response),
      ),
      lookUp: (received, response) => {
        const swapped = wasSwapped(books.numberOf(received));
        setTimeout(() => answerJson(received, response, { swapped }), REPLY_MS);
      },
    };
  }

  /** The operator knows both from now on; we show the new one. */
  rotateSecret(): void {
    const before = this.#secret;
    this.#secret = `secret-${this.#next()}`;
    this.#secrets.add(this.#secret);
    this.#afterwards = () => this.#secrets.delete(before);
    this.write();
  }

  rotateCertificate(): void {
    const before = this.#clients;
    this.#clients = new Authority(`Clients ${this.#next()}`);
    this.#client = this.#clients.issue({ name: 'sim-swap' });
    this.#trust([before, this.#clients]);
    this.#afterwards = () => this.#trust([this.#clients]);
    this.write();
  }

  /** We trust both from now on; then the operator shows the new one. */
  rotateAuthority(): void {
    const before = this.#servers;
    this.#servers = new Authority(`Servers ${this.#next()}`);
    this.#trusted = [before, this.#servers];
    this.#afterwards = () => {
      this.#server = this.#servers.issue();
      this.#trust([this.#clients]);
      this.#trusted = [this.#servers];
    };
    this.write();
  }

  /** What the operator does once we have taken what is new. */
  conclude(): void {
    this.#afterwards();
  }

  /** Writes the files again that have changed, and returns the settings that name them. */
  write(): Readonly<Record<string, string>> {
    return {
      OPERATOR_FLOW: this.#flow,
      OPERATOR_OPERATIONS: 'check',
      OPERATOR_CLIENT_SECRET_FILE: this.files.write('secret', this.#secret),
      OPERATOR_TLS_CERTIFICATE_FILE: this.files.write('client.pem', this.#client.cert),
      OPERATOR_TLS_KEY_FILE: this.files.write('client.key', this.#client.key),
      OPERATOR_TLS_CA_FILE: this.files.write(
        'ca.pem',
        this.#trusted.map(({ pem }) => pem).join(''),
      ),
      KEEP_FACTS_SECONDS: this.#flow === '3-legged' ? '300' : '0',
      // So that a machine that is busy with other tests is not taken for an operator that hangs.
      OPERATOR_TIMEOUT_MS: '60000',
      REQUEST_TIMEOUT_MS: '120000',
      QUOTA_PROMPTS_PER_HOUR: '1000000',
      QUOTA_PROMPTS_PER_HOUR_ALL_CALLERS: '1000000',
      PURPOSES: PURPOSES.join(','),
    };
  }

  /** As if a certificate were read while it is being written: the key is that of another one. */
  writeHalf(): void {
    this.files.write('client.pem', this.#clients.issue({ name: 'sim-swap' }).cert);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.operator[Symbol.asyncDispose]();
  }

  #afterwards: () => void = () => undefined;

  #trust(clients: readonly Authority[]): void {
    const ca = clients.map(({ pem }) => pem);
    this.operator.tls = { ...demanding(this.#server, this.#clients), ca };
  }

  #toThoseWhoKnow(answer: Answer): Answer {
    return (received, response) => {
      const [, basic = ''] = String(received.headers.authorization).split(' ');
      const [, secret = ''] = Buffer.from(basic, 'base64').toString().split(':');
      if (this.#secrets.has(secret)) {
        setTimeout(() => answer(received, response), REPLY_MS);
        return;
      }
      this.refusals.push(received.path);
      answerJson(received, response, { error: 'invalid_client' }, 401);
    };
  }

  #next(): number {
    this.#count += 1;
    return this.#count;
  }
}

/** The truth about a number: odd ones were swapped. */
function wasSwapped(number: string): boolean {
  return Number(number.at(-1)) % 2 === 1;
}

interface Trust {
  readonly servers: Authority;
  readonly server: Certificate;
  readonly clients: Authority;
}

async function startRotation(flow: string): Promise<Rotation> {
  const servers = new Authority('Servers 0');
  const trust = { servers, server: servers.issue(), clients: new Authority('Clients 0') };
  const operator = await WiredOperator.start({}, demanding(trust.server, trust.clients));
  return new Rotation(operator, trust, flow);
}

/** Asks all the time until it is stopped; a request that is told to come back comes back. A test that fails stops it too. */
function loadOn(server: ServerProcess) {
  const findings = { answers: 0, failed: [] as string[], wrong: [] as string[] };
  const stopping = new AbortController();
  let asked = 0;
  async function answer(number: string, headers: Readonly<Record<string, string>>): Promise<void> {
    const query = `{ phoneNumber(e164: "${number}") { simSwappedWithin } }`;
    let reply = await server.ask(query, {}, headers);
    while (reply.codes.includes('CONSENT_PENDING')) reply = await server.ask(query, {}, headers);
    if (reply.codes.length > 0) findings.failed.push(...reply.codes);
    else if (reply.data.phoneNumber.simSwappedWithin !== wasSwapped(number)) {
      findings.wrong.push(number);
    }
    findings.answers += 1;
  }
  const running = Array.from({ length: REQUESTS }, async () => {
    while (!stopping.signal.aborted) {
      const turn = asked;
      asked += 1;
      const purpose = PURPOSES[Math.floor(turn / NUMBERS.length) % PURPOSES.length] ?? '';
      await answer(NUMBERS[turn % NUMBERS.length] ?? '', { 'x-purpose': purpose });
    }
  });
  const stop = async () => {
    stopping.abort();
    await Promise.all(running);
    return findings;
  };
  return { stop, [Symbol.asyncDispose]: async () => void (await stop()) };
}

// The short form of the same: files.test.ts, test/http/endpointRotation.test.ts.
describe.runIf(IS_LONG)(`under ${REQUESTS} requests in flight`, () => {
  // At the same time: most of it is waiting, since the log tells a second change of files a minute later.
  it.concurrent.for(['3-legged', '2-legged'])(
    '%s: certificate, secret and authority are rotated, and none fails, prompts twice or is wrong',
    { timeout: 600_000 },
    async (flow, { expect }) => {
      await using rotation = await startRotation(flow);
      await using served = await ServerProcess.start(rotation.operator.url, rotation.write());
      const { operator } = rotation;
      await using load = loadOn(served);
      /** Whatever was in flight has ended by then. */
      const aWhile = async (): Promise<void> => {
        const lookups = operator.books.lookups + 2 * REQUESTS;
        await expect
          .poll(() => operator.books.lookups, { timeout: 60_000 })
          .toBeGreaterThan(lookups);
      };
      await aWhile();
      const rotated = async (message: string, rotate: () => void): Promise<void> => {
        const before = served.logged(message).length;
        rotate();
        await expect
          .poll(() => served.logged(message).length, { timeout: 60_000 })
          .toBe(before + 1);
        await aWhile();
        rotation.conclude();
        await aWhile();
      };
      await rotated(SECRETS_READ, () => rotation.rotateSecret());
      await rotated(CONNECTION_FILES_READ, () => rotation.rotateCertificate());
      await rotated(CONNECTION_FILES_READ, () => rotation.rotateAuthority());
      await rotated(CONNECTION_FILES_REFUSED, () => rotation.writeHalf());
      const { answers, failed, wrong } = await load.stop();

      const { refusals } = rotation;
      const { offences, lookups } = operator.books;
      expect([...failed, ...wrong, ...refusals, ...offences]).toEqual([]);
      expect({ prompts: operator.count('prompts'), lookups }).toEqual({
        prompts: flow === '3-legged' ? answers : 0,
        lookups: answers,
      });
    },
  );
});
