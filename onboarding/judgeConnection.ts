import type { ConnectStage } from '../src/wire/connectFailure.ts';
import { connectionAdvice } from './connectionAdvice.ts';
import {
  codeText,
  placeText,
  type ConnectionTrace,
  type Place,
  type TlsFacts,
} from './connectionTrace.ts';
import type { Finding, Step } from './finding.ts';

const DAY_MS = 24 * 3_600_000;

/** A certificate that expires sooner should have been renewed: most are renewed a month ahead. */
const MIN_CERTIFICATE_DAYS = 30;

/** The row for each stage of a connection. */
const ROW_OF: Readonly<
  Record<ConnectStage, Extract<Step, 'files' | 'proxy' | 'name' | 'tcp' | 'tls'>>
> = {
  files: 'files',
  'proxy-name': 'proxy',
  'proxy-connection': 'proxy',
  'proxy-tls': 'proxy',
  'proxy-tunnel': 'proxy',
  name: 'name',
  connection: 'tcp',
  tls: 'tls',
  certificate: 'tls',
  'client-certificate': 'tls',
};

type Row = (typeof ROW_OF)[ConnectStage];

/** Judges the stages of a connection, one row each. Pure. */
export function judgeConnection(trace: ConnectionTrace, nowMs: number): readonly Finding[] {
  const { broke } = trace;
  const rows = rowsOf(trace);
  // What cannot be used before anything is tried has its own row.
  const brokeAt = broke === undefined ? rows.length : rows.indexOf(ROW_OF[broke.stage]);
  return rows.map((row, index): Finding => {
    const at = placeText(placeAt(row, trace));
    if (broke !== undefined && index === brokeAt) {
      const found = codeText(broke.code);
      const advice = connectionAdvice(broke.stage, broke.code);
      return { step: row, at, verdict: 'failed', found, advice };
    }
    if (broke !== undefined && index > brokeAt) {
      return { step: row, at, verdict: 'not tried', found: `needs ${ROW_OF[broke.stage]}` };
    }
    return standing(row, at, trace, nowMs);
  });
}

/** Behind a proxy some rows are missing: the proxy resolves the name and connects. */
function rowsOf({ place, proxy }: ConnectionTrace): readonly Row[] {
  const way: readonly Row[] = proxy === undefined ? ['name', 'tcp'] : ['proxy'];
  return place.isSecure ? [...way, 'tls'] : way;
}

function placeAt(row: Row, { place, proxy }: ConnectionTrace): Place {
  return row === 'proxy' ? (proxy ?? place) : place;
}

function standing(row: Row, at: string, trace: ConnectionTrace, nowMs: number): Finding {
  const ok = (found: string): Finding => ({ step: row, at, verdict: 'ok', found });
  switch (row) {
    case 'files':
      return ok('read');
    case 'proxy':
      return ok(`lets through to ${placeText(trace.place)}`);
    case 'name':
      return ok(trace.addresses === 1 ? '1 address' : `${trace.addresses} addresses`);
    case 'tcp':
      return ok('connected');
    case 'tls':
      return trace.tls === undefined ? ok('') : tlsRow(at, trace.tls, nowMs);
  }
}

function tlsRow(at: string, tls: TlsFacts, nowMs: number): Finding {
  const days = Math.floor((tls.validToMs - nowMs) / DAY_MS);
  const version = tls.protocol === 'h2' ? 'HTTP/2' : 'HTTP/1.1';
  const found = `${tls.version}, ${version}, certificate for ${days} more days`;
  if (days >= MIN_CERTIFICATE_DAYS) return { step: 'tls', at, verdict: 'ok', found };
  return {
    step: 'tls',
    at,
    verdict: 'warning',
    found,
    advice: `Ask the operator when the certificate of ${at} is renewed: once it has ended, nothing is sent there.`,
  };
}

/** What is known of the files that connections are made with. */
export interface FilesTrace {
  /** Why they cannot be used; absent where they can. */
  readonly flaw?: string | undefined;
  /** When our own certificate expires, in milliseconds since 1970; absent without one. */
  readonly certificateEndsMs?: number | undefined;
}

/** Whether our own certificates, keys and credentials can be used. Pure. */
export function judgeFiles({ flaw, certificateEndsMs }: FilesTrace, nowMs: number): Finding {
  const row = { step: 'files', at: '' } as const;
  if (flaw !== undefined) {
    return { ...row, verdict: 'failed', found: flaw, advice: connectionAdvice('files', '') };
  }
  if (certificateEndsMs === undefined) return { ...row, verdict: 'ok', found: 'read' };
  const days = Math.floor((certificateEndsMs - nowMs) / DAY_MS);
  const found = `read, our certificate is valid for ${days} more days`;
  return days >= MIN_CERTIFICATE_DAYS
    ? { ...row, verdict: 'ok', found }
    : {
        ...row,
        verdict: days < 0 ? 'failed' : 'warning',
        found: days < 0 ? 'our certificate has expired' : found,
        advice:
          'Have our client certificate renewed, register the new one with the operator, and replace the old one: new connections use it without a restart.',
      };
}
