import type { Clock } from '../src/system/clock.ts';
import { ConnectionFiles } from '../src/wire/connectionFiles.ts';
import { ENDPOINT_LABELS } from '../src/operator/operatorEndpoint.ts';
import type { ConnectionSettings } from '../src/wire/wireSettings.ts';
import type { EndpointName } from '../src/operator/operatorSettings.ts';
import { traceConnection, type Way } from './connection.ts';
import { placeOf, placeText } from './connectionTrace.ts';
import { SILENT, type Finding } from './finding.ts';
import { probeHttp } from './httpProbe.ts';
import { judgeConnection, judgeFiles } from './judgeConnection.ts';
import { judgeHttp, type ProbedEndpoint } from './judgeHttp.ts';

/** A host and port, and the endpoints there. */
export interface PlaceToTry {
  /** An address at it. */
  readonly url: string;
  readonly endpoints: readonly { readonly name: EndpointName; readonly url: string }[];
}

/** Connects, and sends a GET without credentials to each endpoint there. */
export async function tryPlace(way: Way, { url, endpoints }: PlaceToTry) {
  const { trace, socket } = await traceConnection(way, url);
  socket?.destroy();
  const findings = judgeConnection(trace, way.clock.nowMs());
  const names = endpoints.map(({ name }) => name);
  if (trace.broke !== undefined) return { findings, isReached: false, endpoints: names };
  if (endpoints.length === 0) return { findings, isReached: true, endpoints: names };
  const probed = await Promise.all(endpoints.map((endpoint) => tryEndpoint(way, endpoint)));
  const row = judgeHttp(placeText(placeOf(url)), probed);
  return {
    findings: [...findings, row],
    isReached: row.verdict !== 'failed',
    endpoints: names,
  };
}

/**
 * Reads the files that connections are made with, and judges them; no row where the settings name none. The files must
 * be closed.
 */
export function openOwnFiles(
  settings: ConnectionSettings,
  { clock }: { readonly clock: Clock },
): { readonly files: ConnectionFiles; readonly findings: readonly Finding[] } {
  const files = new ConnectionFiles(settings, { clock, log: SILENT });
  if (settings.tls === undefined && settings.proxy === undefined) return { files, findings: [] };
  const trace = { flaw: files.flaw, certificateEndsMs: files.material?.validity?.untilMs };
  return { files, findings: [judgeFiles(trace, clock.nowMs())] };
}

async function tryEndpoint(
  way: Way,
  { name, url }: PlaceToTry['endpoints'][number],
): Promise<ProbedEndpoint> {
  const endpoint = ENDPOINT_LABELS[name];
  const { trace, socket } = await traceConnection(way, url);
  if (socket === undefined) {
    const { stage = 'tls', code = 'closed' } = trace.broke ?? {};
    return { endpoint, probe: { kind: 'broke', stage, code } };
  }
  return { endpoint, probe: await probeHttp(socket, new URL(url), way.timeoutMs) };
}
