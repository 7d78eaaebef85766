import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { filesOf, settingsOf, timeOf } from './auditArguments.ts';
import { textOf, linesOf } from '../caller/audit/logFiles.ts';
import { DIMENSIONS, MAX_GROUPS, UsageReport, type Dimension } from '../caller/audit/usage.ts';
import { usageCsv, usageTable } from '../caller/audit/usageText.ts';
import { readUsageConfig } from '../config/config.ts';
import { fail } from '../system/termination.ts';

const USAGE = `npm run usage -- [--since DAY] [--until DAY] [--by LIST] [--format table|csv] [FILE ...]
  Sums up the audit log: lookups, attempts, consents, answers without a lookup,
  what never finished, outcomes, and the price where the settings have one.
  DAY   2026-11-01, or a time such as 2026-11-01T08:00:00Z; a day begins at midnight UTC
  LIST  of ${DIMENSIONS.join(', ')}; day,operator,client,purpose if left out
  FILE  where the log is, gzipped or not; AUDIT_LOG and what it was rotated to if left out, - for standard input
`;

interface ReportArguments {
  readonly dimensions: readonly Dimension[];
  readonly range: { readonly sinceMs?: number; readonly untilMs?: number };
  readonly format: 'table' | 'csv';
  readonly files: readonly string[];
}

function readArguments(): ReportArguments {
  const { values, positionals } = parsedArguments();
  const { format = 'table' } = values;
  if (format !== 'table' && format !== 'csv') {
    fail(`--format must be table or csv.\n${USAGE}`);
  }
  return {
    dimensions: dimensionsOf(values.by ?? 'day,operator,client,purpose'),
    range: {
      ...(values.since === undefined ? {} : { sinceMs: timeOf('--since', values.since) }),
      ...(values.until === undefined ? {} : { untilMs: timeOf('--until', values.until) }),
    },
    format,
    files: positionals,
  };
}

function parsedArguments() {
  try {
    return parseArgs({
      options: {
        since: { type: 'string' },
        until: { type: 'string' },
        by: { type: 'string' },
        format: { type: 'string' },
      },
      allowPositionals: true,
    });
  } catch {
    return fail(USAGE);
  }
}

function dimensionsOf(list: string): readonly Dimension[] {
  return list.split(',').map((name) => {
    const dimension = DIMENSIONS.find((one) => one === name.trim());
    return dimension ?? fail(`--by knows ${DIMENSIONS.join(', ')}.\n${USAGE}`);
  });
}

// Such as `head`, which has seen enough.
process.stdout.on('error', () => process.exit(1));

const { dimensions, range, format, files: named } = readArguments();
const config = settingsOf(readUsageConfig);
const report = new UsageReport(dimensions, range, config.priceOf);
const startedAtMs = performance.now();
for (const file of await filesOf(named, config.auditLog)) {
  try {
    for await (const line of linesOf(textOf(file))) report.add(line);
  } catch {
    fail(`${file} cannot be read to its end. Nothing is reported, for it would be too little.`);
  }
}
const print = format === 'csv' ? usageCsv : usageTable;
process.stdout.write(print(dimensions, report.usages, config.currency));

const { lines, torn, overflowed } = report.count;
const seconds = (performance.now() - startedAtMs) / 1000;
process.stderr.write(
  [
    `${lines} lines in ${seconds.toFixed(1)} s (${Math.round(lines / seconds)} a second)`,
    ...(torn > 0 ? [`${torn} torn lines`] : []),
    ...(overflowed > 0 ? [`${overflowed} lines beyond ${MAX_GROUPS} groups, under "others"`] : []),
  ].join(', ') + '\n',
);
