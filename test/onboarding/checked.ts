import type { ServerResponse } from 'node:http';
import { readOperatorsConfig } from '../../src/config/config.ts';
import type { Environment } from '../../src/config/environment.ts';
import { parsePhoneNumber, type PhoneNumber } from '../../src/domain/phoneNumber.ts';
import { checkOperator, type OperatorTrial } from '../../onboarding/checkOperator.ts';
import type { Finding, OperatorReport, Step } from '../../onboarding/finding.ts';
import {
  startSimulator,
  type Simulator,
  type SimulatorSettings,
} from '../../simulator/simulator.ts';
import { systemClock } from '../../src/system/clock.ts';
import { withEntry } from '../support/operatorEntry.ts';

/** Longer than anything takes that ends. */
const TIMEOUT_MS = 10_000;

/** Checks the one operator of these settings. */
export async function check(
  environment: Environment,
  trial: Partial<Omit<OperatorTrial, 'settings'>> = {},
): Promise<OperatorReport> {
  const { operators, purposes } = readOperatorsConfig(withEntry(environment));
  const [settings] = operators;
  if (settings === undefined) throw new Error('No operator is set.');
  return checkOperator({
    settings,
    purposes,
    timeoutMs: TIMEOUT_MS,
    clock: systemClock,
    ...trial,
  });
}

/** A simulator that is closed with the test. */
export async function simulator(settings: Partial<SimulatorSettings> = {}) {
  const started = await startSimulator({ port: 0, ...settings });
  return { ...started, [Symbol.asyncDispose]: () => started.close() };
}

/** The settings for a simulator. */
export function simulatorSettings({ authUrl, simSwapUrl }: Simulator): Record<string, string> {
  return {
    OPERATOR_AUTH_URL: authUrl,
    OPERATOR_SIM_SWAP_URL: simSwapUrl,
    OPERATOR_CLIENT_ID: 'demo-client',
    OPERATOR_CLIENT_SECRET: 'demo-secret',
  };
}

/** The settings for an operator at one address. */
export function settingsAt(url: string): Record<string, string> {
  return simulatorSettings({ authUrl: url, simSwapUrl: url } as Simulator);
}

/** The rows of a step. */
export function rowsOf({ findings }: OperatorReport, step: Step): readonly Finding[] {
  return findings.filter((finding) => finding.step === step);
}

/** The verdict of each step, where it has one row or several alike. */
export function verdicts({ findings }: OperatorReport): Record<string, string> {
  return Object.fromEntries(findings.map(({ step, verdict }) => [step, verdict]));
}

/** The steps that failed, in their order. */
export function failed({ findings }: OperatorReport): readonly string[] {
  return findings.filter(({ verdict }) => verdict === 'failed').map(({ step }) => step);
}

/** An operator that issues a token to each POST and answers nothing else. */
export function issueTokens(request: { readonly method?: string }, response: ServerResponse): void {
  if (request.method !== 'POST') {
    response.writeHead(405, { allow: 'POST' }).end();
    return;
  }
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ access_token: 'issued', token_type: 'Bearer', expires_in: 60 }));
}

export function number(text: string): PhoneNumber {
  const parsed = parsePhoneNumber(text);
  if (parsed.kind === 'refused') throw new Error(parsed.reason);
  return parsed.value;
}
