import type { Finding, OperatorReport, Verdict } from './finding.ts';

/** Colours a text by its verdict; returns the text itself without colours. */
export type Paint = (verdict: Verdict, text: string) => string;

const HEAD = ['operator', 'step', 'at', 'result', 'found'] as const;

/** All rows of all operators, and what to do about those with advice. Pure. */
export function checkTable(reports: readonly OperatorReport[], paint: Paint): string {
  const rows = reports.flatMap(({ operator, findings }) =>
    findings.map((finding) => ({ finding, cells: cellsOf(operator, finding) })),
  );
  const widths = HEAD.map((title, column) =>
    Math.max(title.length, ...rows.map(({ cells }) => (cells[column] ?? '').length)),
  );
  const line = (cells: readonly string[], verdict?: Verdict): string =>
    cells
      .map((cell, column) => {
        const padded = column === cells.length - 1 ? cell : cell.padEnd(widths[column] ?? 0);
        return verdict !== undefined && HEAD[column] === 'result' ? paint(verdict, padded) : padded;
      })
      .join('  ')
      .trimEnd();
  return [
    line(HEAD),
    ...rows.map(({ cells, finding }) => line(cells, finding.verdict)),
    ...whatToDo(reports, paint),
    '',
  ].join('\n');
}

function cellsOf(operator: string, { step, at, verdict, found }: Finding): readonly string[] {
  return [operator, step, at, verdict, found];
}

function whatToDo(reports: readonly OperatorReport[], paint: Paint): readonly string[] {
  const lines = reports.flatMap(({ operator, findings }) =>
    findings.flatMap(({ step, at, verdict, advice }) =>
      advice === undefined
        ? []
        : [
            `- ${paint(verdict, [operator, step, at].filter((one) => one !== '').join(', '))}: ${advice}`,
          ],
    ),
  );
  return lines.length === 0 ? [] : ['', 'What to do:', ...lines];
}
