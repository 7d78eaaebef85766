import type { Clock } from '../../clock.ts';
import type { Http2Setting } from '../../http/connections/httpVersion.ts';
import type { Protocol } from '../../http/connections/tlsConnector.ts';
import type { NumberDirectorySettings } from '../../operator/operatorSettings.ts';
import type { EndpointName } from '../../http/wireSettings.ts';
import { ENDPOINT_LABELS } from '../../operator/operatorEndpoint.ts';
import { traceConnection } from './connection.ts';
import { placeOf, placeText, type Place } from './connectionTrace.ts';
import type { Finding, OperatorReport } from './finding.ts';
import { probeHttp } from './httpProbe.ts';
import { judgeConnection } from './judgeConnection.ts';
import { judgeHttp, type ProbedEndpoint } from './judgeHttp.ts';

/** How to connect. */
export interface Way {
  readonly http2: Http2Setting;
  /** Of each step. */
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/** A host and port, and the endpoints there. */
export interface PlaceToTry {
  /** An address at it. */
  readonly url: string;
  readonly endpoints: readonly { readonly name: EndpointName; readonly url: string }[];
}

/** How far requests to a place would come. */
export interface TriedPlace {
  readonly findings: readonly Finding[];
  readonly isReached: boolean;
}

/** Connects, and sends a GET without credentials to each endpoint there. */
export async function tryPlace(way: Way, { url, endpoints }: PlaceToTry): Promise<TriedPlace> {
  const place = placeOf(url);
  const { trace, socket } = await traceConnection(place, protocolsOf(way), way.timeoutMs);
  socket?.destroy();
  const findings = judgeConnection(trace, way.clock.nowMs());
  if (trace.broke !== undefined) return { findings, isReached: false };
  if (endpoints.length === 0) return { findings, isReached: true };
  const probed = await Promise.all(endpoints.map((endpoint) => tryEndpoint(way, place, endpoint)));
  const row = judgeHttp(placeText(place), probed);
  return { findings: [...findings, row], isReached: row.verdict !== 'failed' };
}

async function tryEndpoint(
  way: Way,
  place: Place,
  { name, url }: PlaceToTry['endpoints'][number],
): Promise<ProbedEndpoint> {
  const endpoint = ENDPOINT_LABELS[name];
  const { trace, socket } = await traceConnection(place, protocolsOf(way), way.timeoutMs);
  if (socket === undefined) {
    return { endpoint, probe: { kind: 'broke', code: trace.broke?.code ?? 'closed' } };
  }
  return { endpoint, probe: await probeHttp(socket, new URL(url), way.timeoutMs) };
}

/** By ALPN, the one that is preferred first. */
function protocolsOf({ http2 }: Way): readonly Protocol[] {
  switch (http2) {
    case 'auto':
      return ['h2', 'http/1.1'];
    case 'never':
      return ['http/1.1'];
  }
}

/** Tries how far a connection to the company's number directory comes; it is asked about nobody. */
export async function checkDirectory(
  { url }: NumberDirectorySettings,
  { clock, timeoutMs }: Omit<Way, 'http2'>,
): Promise<OperatorReport> {
  const { findings } = await tryPlace({ http2: 'auto', clock, timeoutMs }, { url, endpoints: [] });
  return { operator: 'number directory', findings, billedLookups: 0 };
}
