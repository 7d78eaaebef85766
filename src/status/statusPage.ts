import { hash } from 'node:crypto';
import type {
  EndpointStatus,
  LoggedRefusal,
  OperatorStatus,
  ServiceStatus,
  StatusReport,
} from './statusReport.ts';

const STYLE = `
:root { color-scheme: light dark }
body { max-width: 72em; margin: 2em auto; padding: 0 1em; font: 1em/1.5 system-ui, sans-serif }
.table { overflow-x: auto }
table { border-collapse: collapse; margin: 0 0 1.5em }
caption { text-align: left; font-weight: 600; padding: .5em 0 }
th, td { text-align: left; padding: .2em 1.2em .2em 0; border-bottom: 1px solid #8886; vertical-align: top }
td.count { text-align: right; font-variant-numeric: tabular-nums }
strong { text-decoration: underline }
`;

/** The page brings its style along, known by its hash, and nothing else. */
export const STATUS_PAGE_POLICY = `default-src 'none'; style-src 'sha256-${hash('sha256', STYLE, 'base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** The report for people: it says all in words, and loads and runs nothing. Pure. */
export function statusPage({ at, startedAt, service, operators, refusals }: StatusReport): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>SIM swap: ${escaped(titleOf(service, operators))}</title>
<style>${STYLE}</style>
<main>
<h1>SIM swap: ${escaped(titleOf(service, operators))}</h1>
<p>At ${time(at)}; this process has run since ${time(startedAt)}. Counts are its own, since then.
<p>The service is ${escaped(readinessOf(service))}.
${operators.map(operatorSection).join('\n')}
<h2>Latest refusals</h2>
${refusalTable(refusals)}
</main>
</html>
`;
}

function titleOf(service: ServiceStatus, operators: readonly OperatorStatus[]): string {
  const open = operators.flatMap(({ endpoints }) =>
    endpoints.filter(({ circuit }) => circuit === 'open'),
  );
  return open.length === 0 ? service.status : `${service.status}, circuits open: ${open.length}`;
}

function readinessOf(service: ServiceStatus): string {
  switch (service.status) {
    case 'ready':
    case 'draining':
      return service.status;
    case 'starting':
      return `starting; it waits for ${service.waitingFor.join(', ')}`;
  }
}

function operatorSection({ name, flow, endpoints, queues, consents }: OperatorStatus): string {
  const parts = [
    `<h2>Operator ${escaped(name)} (${flow})</h2>`,
    table(
      'Endpoints',
      [
        'Endpoint',
        'Circuit',
        'Exchanges',
        'Failed',
        'Last failure',
        'HTTP/1.1',
        'Spare',
        'HTTP/2',
        'Streams',
      ],
      endpoints.map(endpointCells),
    ),
    table(
      'Queues',
      ['Work', 'Under way', 'Waiting'],
      queues.map(({ work, underWay, waiting }) => [escaped(work), underWay, waiting]),
    ),
  ];
  if (consents !== undefined) {
    const outcomes = Object.entries(consents.outcomes).map(
      ([outcome, count]) => [escaped(outcome), count] as const,
    );
    parts.push(
      table('Consents', ['Requests', 'How many'], [['waiting now', consents.waiting], ...outcomes]),
    );
  }
  return parts.join('\n');
}

function endpointCells(endpoint: EndpointStatus): Cells {
  const { name, circuit, circuitSince, exchanges, failed, lastFailure, connections } = endpoint;
  const since = circuitSince === undefined ? '' : ` since ${time(circuitSince)}`;
  return [
    escaped(name),
    circuit === 'open' ? `<strong>open</strong>${since}` : `closed${since}`,
    exchanges,
    failed,
    lastFailure === undefined
      ? 'none'
      : `${escaped(lastFailure.outcome)} at ${time(lastFailure.at)}`,
    connections.http1,
    connections.spare,
    connections.http2,
    connections.streams,
  ];
}

function refusalTable(refusals: readonly LoggedRefusal[]): string {
  if (refusals.length === 0) return '<p>None.';
  return table('The latest first', ['At', 'What', 'Why', 'Request'], refusals.map(refusalCells));
}

function refusalCells(refusal: LoggedRefusal): Cells {
  switch (refusal.kind) {
    case 'caller':
      return [time(refusal.at), 'a caller, at the door', escaped(refusal.reason), ''];
    case 'denied':
    case 'operator': {
      const { at, kind, operator, event, code, request } = refusal;
      const by = kind === 'denied' ? 'not asked' : 'asked';
      return [
        time(at),
        `${escaped(event)}, ${by} of ${escaped(operator)}`,
        escaped(code),
        `<code>${escaped(request)}</code>`,
      ];
    }
  }
}

/** Of one row: a number, or HTML. */
type Cells = readonly (number | string)[];

function table(caption: string, heads: readonly string[], rows: readonly Cells[]): string {
  const head = heads.map((one) => `<th scope="col">${one}`).join('');
  const body = rows.map(([first = '', ...others]) => {
    const cells = others.map((cell) =>
      typeof cell === 'number' ? `<td class="count">${cell}` : `<td>${cell}`,
    );
    return `<tr><th scope="row">${first}${cells.join('')}`;
  });
  return `<div class="table" role="region" aria-label="${caption}" tabindex="0"><table><caption>${caption}</caption>
<thead><tr>${head}<tbody>
${body.join('\n')}
</table></div>`;
}

function time(iso: string): string {
  return `<time datetime="${escaped(iso)}">${escaped(iso.replace('T', ' ').replace(/\.\d+Z$/, ' UTC'))}</time>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] ?? '');
}
