import { Pool } from 'undici';
import { claimsAt, createKey, sign, TestIssuer } from '../caller/testIssuer.ts';
import { Program } from '../support/program.ts';
import { Random } from '../support/random.ts';
import { Collector } from '../tracing/collector.ts';
import { WiredOperator } from '../support/wiredOperator.ts';
import { leaksIn, NUMBER_MARK, SECRET_MARK } from './marks.ts';
import { nastily } from './nastyOperator.ts';
import { anyQuestion, type Tokens } from './questions.ts';
import { TemporaryFiles } from '../support/temporary.ts';

const CLIENTS = 32;
const ROUTER_SECRET = `${SECRET_MARK}-the-router-and-the-subgraph-know-it`;

export interface CanaryRun {
  readonly requests: number;
  readonly seed: number;
  readonly role: 'bff' | 'subgraph';
  readonly flow: '2-legged' | '3-legged';
  /** It goes on until each of these codes was returned, for twenty times as many requests at most. */
  readonly until: readonly string[];
}

/** Drives a server through its error paths, and scans all of its output. */
export async function runCanary({ requests, seed, role, flow, until }: CanaryRun) {
  const random = new Random(seed);
  const issuer = await TestIssuer.start();
  await using operator = await WiredOperator.start(
    nastily(new Random(seed + 1), flow === '2-legged'),
  );
  await using collector = await Collector.start();
  await using server = Program.node(['src/main.ts'], {
    ...issuer.settings,
    ...collector.settings,
    TRACE_OPERATORS: 'true',
    PORT: '0',
    METRICS_PORT: '0',
    ROLE: role,
    ...(role === 'subgraph' ? { ROUTER_SECRET } : {}),
    OPERATOR_AUTH_URL: operator.url,
    OPERATOR_SIM_SWAP_URL: operator.url,
    OPERATOR_CLIENT_ID: 'canary',
    OPERATOR_CLIENT_SECRET: `${SECRET_MARK}-client secret`,
    OPERATOR_HEADERS: JSON.stringify({ 'x-api-key': `${SECRET_MARK}-api-key` }),
    OPERATOR_FLOW: flow,
    QUOTA_PROMPTS_PER_HOUR: '999999999',
    QUOTA_PROMPTS_PER_HOUR_ALL_CALLERS: '999999999',
    OPERATOR_TIMEOUT_MS: '2000',
    CONSENT_WAIT_MS: '100',
    CONSENT_DENIED_SECONDS: '1',
    CONSENT_FAILURE_SECONDS: '1',
    CONSENT_DOUBT_SECONDS: '1',
    // So few that the last requests exceed it; what a consent ends with takes more numbers.
    QUOTA_NUMBERS_PER_HOUR: String(Math.min(100, requests / (flow === '2-legged' ? 20 : 4))),
    AUDIT_KEY: `${SECRET_MARK}-audit-key-of-32-characters`,
  });
  const [, metricsPort] = await server.written(/"port":(\d+),"msg":"Serving metrics."/);
  const [, port] = await server.written(/"port":(\d+)\D.*"msg":"Listening."/);

  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: CLIENTS });
  const codes = new Set<string>();
  const leaks: ReturnType<typeof leaksIn>[] = [];
  try {
    const tokens = await marketOf(issuer);
    let sent = 0;
    const goesOn = (): boolean =>
      sent < requests || (sent < 20 * requests && until.some((code) => !codes.has(code)));
    const client = async (): Promise<void> => {
      while (goesOn()) {
        sent += 1;
        const { body, ...question } = anyQuestion(random, role, tokens, ROUTER_SECRET);
        const reply = await pool.request({ ...question, body: body ?? null });
        const text = await reply.body.text();
        for (const [, code = ''] of text.matchAll(/"code":"([A-Z_]+)"/g)) codes.add(code);
        const where = `a response: ${text.slice(0, 300)}`;
        leaks.push(leaksIn(`${JSON.stringify(reply.headers)}\n${text}`, where));
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
    const metrics = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
    if (metrics.status !== 200) throw new Error(`/metrics is answered with ${metrics.status}.`);
    leaks.push(leaksIn(await metrics.text(), '/metrics'));
  } finally {
    await pool.destroy();
    server.signal('SIGTERM');
    await server.ended;
    await issuer.close();
  }
  const lines = (server.out + server.err).split('\n');
  leaks.push(...lines.map((line) => leaksIn(line, `standard output: ${line}`)));
  for (const { body } of collector.received) {
    // A moment of 2026 may hold the digits of a number: …377009000…
    const text = body.replaceAll(/"(?:\w+Time|time)UnixNano":"\d+"/g, '');
    leaks.push(leaksIn(text, 'spans'));
  }
  const audited = lines.filter((line) => line.startsWith('{"audit":'));
  const usage = await usageOf(audited);
  leaks.push(...usage.map((line) => leaksIn(line, `usage: ${line}`)));
  return {
    operatorRequests: operator.received.length,
    codes,
    auditLines: audited.length,
    logLines: lines.length - audited.length,
    spans: collector.spans.length,
    usageLines: usage.length,
    leaks: leaks.flat(),
  };
}

/** The report of `npm run usage` about the audit log, grouped by everything. */
async function usageOf(audited: readonly string[]): Promise<readonly string[]> {
  const file = new TemporaryFiles().write('audit.log', `${audited.join('\n')}\n`);
  const by = 'day,operator,operation,purpose,client,subject';
  const { out, err } = await Program.runNode(['src/commands/usageReport.ts', '--by', by, file]);
  return `${out}${err}`.split('\n');
}

/** Tokens of all sorts, each with marks. */
async function marketOf(issuer: TestIssuer): Promise<Tokens> {
  const number = `+${NUMBER_MARK}123`;
  const jti = `${SECRET_MARK}-jti`;
  const reader = { jti, scope: 'sim-swap:read' };
  const stranger = await createKey('RS256');
  const good = await Promise.all([
    issuer.token({ ...reader, sub: 'risk' }),
    issuer.token({ ...reader, sub: 'bank' }),
    issuer.token({ ...reader, sub: number }),
    issuer.token({ ...reader, sub: `user:${number}`, client_id: number }),
    issuer.token({ ...reader, sub: number.slice(1), client_id: 'app' }),
    issuer.token({ jti, phone_number: number, phone_number_verified: true }),
    issuer.token({ jti, phone_number: number }),
  ]);
  const bad = await Promise.all([
    issuer.token({ ...reader, exp: 1 }),
    issuer.token({ ...reader, aud: number }),
    issuer.token({ ...reader, purpose: number }),
    sign(stranger, claimsAt(Date.now(), reader)),
    sign({ ...stranger, kid: number }, claimsAt(Date.now(), reader)),
    Promise.resolve(`${SECRET_MARK}.${SECRET_MARK}.${SECRET_MARK}`),
  ]);
  return { good, bad };
}
