import { connectionAdvice } from './connectionAdvice.ts';
import { codeText } from './connectionTrace.ts';
import type { Finding } from './finding.ts';
import type { HttpProbe } from './httpProbe.ts';

/** One endpoint that was sent a GET. */
export interface ProbedEndpoint {
  /** The endpoint's name in the log. */
  readonly endpoint: string;
  readonly probe: HttpProbe;
}

/** Judges the replies to GETs at the endpoints of one place. Pure. */
export function judgeHttp(at: string, probed: readonly ProbedEndpoint[]): Finding {
  const parts = probed.map(({ endpoint, probe }) => `${endpoint} ${outcomeOf(probe)}`);
  const [version] = probed.flatMap(({ probe }) =>
    probe.kind === 'replied'
      ? [`${probe.facts.version}, connections ${probe.facts.keepAlive}`]
      : [],
  );
  const found = [...(version === undefined ? [] : [version]), ...parts].join('; ');
  const row = { step: 'http', at, found } as const;
  const broken = probed.find(({ probe }) => probe.kind === 'broke');
  if (broken?.probe.kind === 'broke') {
    return {
      ...row,
      verdict: 'failed',
      advice: connectionAdvice(broken.probe.stage, broken.probe.code),
    };
  }
  const astray = probed.filter(
    ({ probe }) => probe.kind === 'replied' && isAstray(probe.facts.status),
  );
  if (astray.length === 0) return { ...row, verdict: 'ok' };
  const names = astray.map(({ endpoint }) => endpoint).join(' and ');
  return {
    ...row,
    verdict: 'warning',
    advice: `There may be nothing at the path of ${names}: a GET without credentials found nothing there. Some gateways reply so to everything but a POST. Compare the path with the onboarding papers; a check with --number shows it.`,
  };
}

function outcomeOf(probe: HttpProbe): string {
  switch (probe.kind) {
    case 'replied':
      return String(probe.facts.status);
    case 'broke':
      return codeText(probe.code);
  }
}

/** Whether there is nothing at the path, or a redirect, which is never followed. */
function isAstray(status: number): boolean {
  return status === 404 || status === 410 || (status >= 300 && status < 400);
}
