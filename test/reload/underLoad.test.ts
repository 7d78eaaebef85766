import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { inForm } from '../forms.ts';
import { Authority } from '../tls/authority.ts';
import type { Certificate } from '../tls/certificate.ts';
import { TemporaryFiles } from '../tls/temporaryFiles.ts';
import { ReloadingServer } from './reloadingServer.ts';
import { RotatingOperator, wasSwapped, type Trust } from './rotatingOperator.ts';

/** In flight all the time. */
const REQUESTS = 100;
const ROUNDS = inForm({ short: 1, long: 3 });
/** For requests to run into what was rotated. */
const PAUSE_MS = inForm({ short: 150, long: 4000 });
/** Asked about in turn, first for one purpose, then for the next: each pair takes one consent. */
const NUMBERS = Array.from({ length: 1000 }, (_, i) => `+447700900${String(i).padStart(3, '0')}`);
const PURPOSES = Array.from({ length: inForm({ short: 4, long: 40 }) }, (_, i) => `purpose-${i}`);

/** Everything that is rotated, as the two sides know it. */
class Rotation {
  readonly files = new TemporaryFiles();
  readonly operator: RotatingOperator;
  readonly #flow: string;
  #count = 0;
  #secret = 'the-first-secret';
  #clients: Authority;
  #client: Certificate;
  #servers: Authority;
  #server: Certificate;
  #trusted: readonly Authority[];

  private constructor(operator: RotatingOperator, trust: Made, flow: string) {
    this.operator = operator;
    this.#flow = flow;
    this.#clients = trust.clients;
    this.#client = trust.clients.issue({ name: 'sim-swap' });
    this.#servers = trust.servers;
    this.#server = trust.server;
    this.#trusted = [trust.servers];
    operator.secrets.add(this.#secret);
  }

  static async start(flow: string): Promise<Rotation> {
    const servers = new Authority('Servers 0');
    const made = { servers, server: servers.issue(), clients: new Authority('Clients 0') };
    const operator = await RotatingOperator.start({
      certificate: made.server,
      clients: [made.clients],
    });
    return new Rotation(operator, made, flow);
  }

  /** The operator knows both from now on; we show the new one. */
  rotateSecret(): void {
    const before = this.#secret;
    this.#secret = `secret-${this.#next()}`;
    this.operator.secrets.add(this.#secret);
    this.#afterwards = () => this.operator.secrets.delete(before);
    this.write();
  }

  rotateCertificate(): void {
    const before = this.#clients;
    this.#clients = new Authority(`Clients ${this.#next()}`);
    this.#client = this.#clients.issue({ name: 'sim-swap' });
    this.operator.trust = this.#trust([before, this.#clients]);
    this.#afterwards = () => {
      this.operator.trust = this.#trust([this.#clients]);
    };
    this.write();
  }

  /** We trust both from now on; then the operator shows the new one. */
  rotateAuthority(): void {
    const before = this.#servers;
    this.#servers = new Authority(`Servers ${this.#next()}`);
    this.#trusted = [before, this.#servers];
    this.#afterwards = () => {
      this.#server = this.#servers.issue();
      this.operator.trust = this.#trust([this.#clients]);
      this.#trusted = [this.#servers];
    };
    this.write();
  }

  /** What the operator does once we have taken what is new. */
  conclude(): void {
    this.#afterwards();
  }

  /** Under new names each time, so that the settings change. */
  write(): string {
    const name = String(this.#count);
    const settings = {
      OPERATOR_FLOW: this.#flow,
      OPERATOR_OPERATIONS: 'check',
      OPERATOR_AUTH_URL: this.operator.url,
      OPERATOR_SIM_SWAP_URL: this.operator.url,
      OPERATOR_CLIENT_ID: 'client',
      OPERATOR_CLIENT_SECRET_FILE: this.files.write(`secret-${name}`, this.#secret),
      OPERATOR_TLS_CERTIFICATE_FILE: this.files.write(`client-${name}.pem`, this.#client.cert),
      OPERATOR_TLS_KEY_FILE: this.files.write(`client-${name}.key`, this.#client.key),
      OPERATOR_TLS_CA_FILE: this.files.write(
        `ca-${name}.pem`,
        this.#trusted.map(({ pem }) => pem).join(''),
      ),
      KEEP_FACTS_SECONDS: this.#flow === '3-legged' ? '300' : '0',
      // So that a machine that is busy with other tests is not taken for an operator that hangs.
      OPERATOR_TIMEOUT_MS: 60_000,
      REQUEST_TIMEOUT_MS: 120_000,
      QUOTA_PROMPTS_PER_HOUR: 1_000_000,
      QUOTA_PROMPTS_PER_HOUR_ALL_CALLERS: 1_000_000,
      PURPOSES: PURPOSES.join(','),
    };
    return this.files.write('settings.jsonc', JSON.stringify({ settings }));
  }

  /** As if it were read while it is being written. */
  writeHalf(): void {
    this.files.write('settings.jsonc', '{"settings": {"OPERATOR_FLOW": "2-legg');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.files[Symbol.dispose]();
    await this.operator[Symbol.asyncDispose]();
  }

  #afterwards: () => void = () => undefined;

  #trust(clients: readonly Authority[]): Trust {
    return { certificate: this.#server, clients };
  }

  #next(): number {
    this.#count += 1;
    return this.#count;
  }
}

interface Made {
  readonly servers: Authority;
  readonly server: Certificate;
  readonly clients: Authority;
}

/** What the load came to. */
interface Findings {
  answers: number;
  readonly failed: string[];
  readonly wrong: string[];
}

/** Asks all the time until it is told to stop; a request that is told to come back comes back. */
class Load {
  readonly findings: Findings = { answers: 0, failed: [], wrong: [] };
  readonly #url: string;
  readonly #stopping = new AbortController();
  readonly #running: readonly Promise<void>[];
  #asked = 0;

  constructor(url: string) {
    this.#url = url;
    this.#running = Array.from({ length: REQUESTS }, () => this.#run());
  }

  async stop(): Promise<Findings> {
    this.#stopping.abort();
    await Promise.all(this.#running);
    return this.findings;
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const turn = this.#asked;
      this.#asked += 1;
      const number = NUMBERS[turn % NUMBERS.length] ?? '';
      const purpose = PURPOSES[Math.floor(turn / NUMBERS.length) % PURPOSES.length] ?? '';
      await this.#untilAnswered(number, purpose);
    }
  }

  async #untilAnswered(number: string, purpose: string): Promise<void> {
    for (;;) {
      const told = await ask(this.#url, number, purpose);
      if (told === 'CONSENT_PENDING') continue;
      if (typeof told === 'string') this.findings.failed.push(told);
      else if (told !== wasSwapped(number)) this.findings.wrong.push(number);
      this.findings.answers += 1;
      return;
    }
  }
}

/** The answer, or why there is none. */
async function ask(url: string, number: string, purpose: string): Promise<boolean | string> {
  try {
    const reply = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-purpose': purpose },
      body: JSON.stringify({ query: `{ phoneNumber(e164: "${number}") { simSwappedWithin } }` }),
    });
    const { data, errors } = (await reply.json()) as {
      readonly data?: {
        readonly phoneNumber: { readonly simSwappedWithin: boolean | null } | null;
      };
      readonly errors?: readonly { readonly extensions: { readonly code: string } }[];
    };
    const code = errors?.[0]?.extensions.code;
    return code ?? data?.phoneNumber?.simSwappedWithin ?? `status ${reply.status}`;
  } catch (error) {
    return String(error);
  }
}

describe(`under ${REQUESTS} requests in flight`, () => {
  it.each(['3-legged', ...(PAUSE_MS > 1000 ? ['2-legged'] : [])])(
    '%s: certificate, secret and authority are rotated, and none fails, prompts twice or is wrong',
    async (flow) => {
      await using rotation = await Rotation.start(flow);
      await using served = await ReloadingServer.start(rotation.files, {
        SETTINGS_FILE: rotation.write(),
      });
      const { operator } = rotation;
      const load = new Load(served.url);
      await expect.poll(() => operator.lookups, { timeout: 20_000 }).toBeGreaterThan(0);
      const told: unknown[] = [];
      const reloadAfter = async (rotate: () => void): Promise<void> => {
        rotate();
        told.push((await served.reload())['msg']);
        await served.drained(told.length);
        rotation.conclude();
        await sleep(PAUSE_MS);
      };
      for (let round = 0; round < ROUNDS; round += 1) {
        await reloadAfter(() => rotation.rotateSecret());
        await reloadAfter(() => rotation.rotateCertificate());
        await reloadAfter(() => rotation.rotateAuthority());
      }
      rotation.writeHalf();
      const refused = await served.reload();
      const lookups = operator.lookups;
      await expect.poll(() => operator.lookups, { timeout: 20_000 }).toBeGreaterThan(lookups);
      const { answers, failed, wrong } = await load.stop();

      expect(told).toEqual(Array(3 * ROUNDS).fill('settings reloaded'));
      expect(refused).toMatchObject({
        level: 50,
        problems: expect.stringContaining('SETTINGS_FILE'),
      });
      expect({ failed, wrong, refusals: operator.refusals }).toEqual({
        failed: [],
        wrong: [],
        refusals: [],
      });
      const prompts = [...operator.prompts.values()].reduce((sum, one) => sum + one, 0);
      expect({ prompts, lookups: operator.lookups }).toEqual({
        prompts: flow === '3-legged' ? answers : 0,
        lookups: answers,
      });
    },
    inForm({ short: 150_000, long: 600_000 }),
  );
});
