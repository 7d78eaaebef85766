import { isClean, type Report } from './attack.ts';

const NAME_WIDTH = 22;

/** What came of one attack, as it is printed when it ends. Pure. */
export function rowsOf({ attack, outcome, seconds }: Report): string {
  const { state, findings, why } = outcome;
  const head = `${attack.name.padEnd(NAME_WIDTH)} ${(state === 'succeeded' ? 'SUCCEEDED' : state).padEnd(15)} ${seconds.toFixed(1).padStart(6)} s`;
  if (state === 'held') {
    return `${head}  ${findings.map(({ what, seen }) => `${what}: ${seen}`).join('; ')}\n`;
  }
  if (state === 'left out') return `${head}  ${why}\n`;
  const lines = [
    `tries   ${attack.tries}`,
    `holds   ${attack.holds}`,
    ...(why === undefined ? [] : [`broke   ${why}`]),
    ...findings.map(
      ({ what, isHeld, seen }) => `${isHeld ? 'held  ' : 'NOT   '}  ${what}: ${seen}`,
    ),
  ];
  return `${head}\n${lines.map((one) => `  ${one}\n`).join('')}`;
}

/** The last lines. Pure. */
export function summaryOf(reports: readonly Report[]): string {
  const named = (state: Report['outcome']['state']): string[] =>
    reports.filter(({ outcome }) => outcome.state === state).map(({ attack }) => attack.name);
  return [
    '\n',
    `held ${named('held').length} of ${reports.length}\n`,
    line('left out', named('left out')),
    line('not carried out', named('not carried out')),
    line('SUCCEEDED', named('succeeded')),
    isClean(reports) ? 'nothing got through\n' : 'WRONG\n',
  ].join('');
}

function line(label: string, names: readonly string[]): string {
  return names.length === 0 ? '' : `${label} ${names.length}: ${names.join(', ')}\n`;
}
