import { TestIssuer } from '../caller/testIssuer.ts';
import type { Finding } from './attack.ts';
import { type OperatorScript, TOKEN_MARK, WiredOperator } from '../wiredOperator.ts';
import { Target, type TargetOptions } from './target.ts';

/** Every secret that a setting holds begins like this, so that one search finds all that got out. */
export const SECRET_MARK = 'kept-secret';

export const AUDIT_KEY = `${SECRET_MARK}-of-the-audit-log-01234567456789`;

/** What all requests of an attack may take, so that a drain's limit is near. */
const REQUEST_TIMEOUT_MS = 4000;

/** A drain allows requests their time and a second for bytes; the rest is for a loaded machine. */
const ENDS_WITHIN_MS = REQUEST_TIMEOUT_MS + 8000;

/** A number in any of the spellings by which this service may have been told it. */
const NUMBER = /(?:\+|00|tel:\+?)?44[\s.-]?7700[\s.-]?900\d{3}/;

/** Everything that an attack takes, and takes down after it. It also holds what it saw. */
export class Stage {
  readonly findings: Finding[] = [];
  readonly #targets: Target[] = [];
  readonly #closing: (() => Promise<unknown>)[] = [];
  #isJudged = false;

  async serve(
    operator: WiredOperator,
    settings: Readonly<Record<string, string>> = {},
    options: TargetOptions = {},
  ): Promise<Target> {
    const common = { REQUEST_TIMEOUT_MS: String(REQUEST_TIMEOUT_MS), ...operator.settings };
    const target = await Target.start({ ...common, ...settings }, options);
    this.#targets.push(target);
    return target;
  }

  /** The service with callers that an issuer names, and a token of one of them. */
  async callers(
    settings: Readonly<Record<string, string>> = {},
    { script = {}, ...options }: TargetOptions & { readonly script?: OperatorScript } = {},
  ) {
    const issuer = await this.issuer();
    const operator = await this.operator(script);
    const known = { ...issuer.settings, AUDIT_KEY };
    const target = await this.serve(operator, { ...known, ...settings }, options);
    const token = await issuer.token({ scope: 'sim-swap:read' });
    return { issuer, known, operator, target, token };
  }

  async operator(script?: OperatorScript): Promise<WiredOperator> {
    const operator = await WiredOperator.start(script);
    this.#closing.push(() => operator[Symbol.asyncDispose]());
    return operator;
  }

  /** An issuer of callers' tokens; its `settings` and {@link AUDIT_KEY} make a server know its callers. */
  async issuer(): Promise<TestIssuer> {
    const issuer = await TestIssuer.start();
    this.#closing.push(() => issuer.close());
    return issuer;
  }

  /** To be closed after the attack, the last first. */
  onEnd(close: () => Promise<unknown>): void {
    this.#closing.push(close);
  }

  holds(what: string, isHeld: boolean, seen: unknown = isHeld ? 'yes' : 'no'): void {
    this.findings.push({ what, isHeld, seen: textOf(seen) });
  }

  equals(what: string, value: unknown, expected: unknown): void {
    const [seen, wanted] = [textOf(value), textOf(expected)];
    this.holds(what, seen === wanted, seen === wanted ? seen : `${seen}, not ${wanted}`);
  }

  atMost(what: string, value: number, limit: number): void {
    const seen = Number.isInteger(value) ? String(value) : value.toFixed(1);
    this.holds(what, value <= limit, value <= limit ? seen : `${seen}, over ${limit}`);
  }

  /** What must hold after every attack: all serve, all end on SIGTERM, none discloses secrets. */
  async judge(): Promise<void> {
    if (this.#isJudged) return;
    this.#isJudged = true;
    for (const target of this.#targets) await this.#judgeTarget(target);
  }

  async close(): Promise<void> {
    for (const target of this.#targets) await target.kill();
    for (const close of this.#closing.toReversed()) await close().catch(() => undefined);
  }

  async #judgeTarget(target: Target): Promise<void> {
    const status = await target.statusOf('/livez');
    if (status !== 200) this.holds('serves on', false, exitText(target) ?? `/livez: ${status}`);
    const exit = await target.terminate(ENDS_WITHIN_MS);
    if (exit?.code !== 0) this.holds('ends on SIGTERM', false, exitText(target) ?? 'did not end');
    const { output } = target;
    for (const secret of [SECRET_MARK, TOKEN_MARK]) {
      if (output.includes(secret))
        this.holds('no secret in its output', false, lineOf(output, secret));
    }
    const number = NUMBER.exec(output)?.[0];
    if (number !== undefined) {
      this.holds('no number in its output', false, lineOf(output, number));
    }
    if (/^\s+at .+:\d+:\d+\)?$/m.test(output)) {
      this.holds('no stack in its output', false, /^.*Error.*$/m.exec(output)?.[0] ?? 'a stack');
    }
  }
}

function exitText({ exited }: Target): string | undefined {
  return exited === undefined
    ? undefined
    : `ended with ${exited.signal ?? exited.code ?? 'nothing'}`;
}

function lineOf(output: string, part: string): string {
  return (output.split('\n').find((line) => line.includes(part)) ?? '').slice(0, 160);
}

function textOf(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined');
  return text.length > 400 ? `${text.slice(0, 400)}…` : text;
}
