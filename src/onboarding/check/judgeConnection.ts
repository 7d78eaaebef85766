import {
  STAGES,
  placeText,
  type ConnectionTrace,
  type Stage,
  type TlsFacts,
} from './connectionTrace.ts';
import { adviceFor } from './connectionAdvice.ts';
import type { Finding } from './finding.ts';

const DAY_MS = 24 * 3_600_000;

/** A certificate that ends sooner should have been renewed: most are renewed a month ahead. */
const MIN_CERTIFICATE_DAYS = 30;

/** What the stages of a connection come to, one row each. Pure. */
export function judgeConnection(trace: ConnectionTrace, nowMs: number): readonly Finding[] {
  const { place, broke } = trace;
  const at = placeText(place);
  const brokeAt = broke === undefined ? STAGES.length : STAGES.indexOf(broke.stage);
  return STAGES.filter((stage) => isTaken(stage, trace)).map((stage): Finding => {
    const index = STAGES.indexOf(stage);
    if (broke !== undefined && index === brokeAt) return brokenRow(stage, at, broke.code);
    if (index > brokeAt) return { step: stage, at, verdict: 'not tried', found: notTried(broke) };
    return standingRow(stage, at, trace, nowMs);
  });
}

function isTaken(stage: Stage, { place, broke }: ConnectionTrace): boolean {
  switch (stage) {
    case 'name':
    case 'tcp':
      return true;
    case 'proxy':
      return broke?.stage === 'proxy';
    case 'tls':
      return place.isSecure;
  }
}

function notTried(broke: ConnectionTrace['broke']): string {
  return broke === undefined ? '' : `needs ${broke.stage}`;
}

function standingRow(stage: Stage, at: string, trace: ConnectionTrace, nowMs: number): Finding {
  switch (stage) {
    case 'name':
      return {
        step: stage,
        at,
        verdict: 'ok',
        found: trace.addresses === 1 ? '1 address' : `${trace.addresses} addresses`,
      };
    case 'tcp':
      return { step: stage, at, verdict: 'ok', found: 'connected' };
    case 'proxy':
      return { step: stage, at, verdict: 'ok', found: 'let through' };
    case 'tls':
      return tlsRow(at, trace.tls, nowMs);
  }
}

function tlsRow(at: string, tls: TlsFacts | undefined, nowMs: number): Finding {
  if (tls === undefined) return { step: 'tls', at, verdict: 'not tried', found: '' };
  const days = Math.floor((tls.validToMs - nowMs) / DAY_MS);
  const found = `${tls.version}, ${tls.protocol === 'h2' ? 'HTTP/2' : 'HTTP/1.1'}, certificate for ${days} more days`;
  if (days >= MIN_CERTIFICATE_DAYS) return { step: 'tls', at, verdict: 'ok', found };
  return {
    step: 'tls',
    at,
    verdict: 'warning',
    found,
    advice: `Ask the operator when the certificate of ${at} is renewed: when it ends, nothing is sent there any more.`,
  };
}

function brokenRow(stage: Stage, at: string, code: string): Finding {
  return {
    step: stage,
    at,
    verdict: 'failed',
    found: code === 'timeout' ? 'no answer in time' : code,
    advice: adviceFor(stage, code),
  };
}
