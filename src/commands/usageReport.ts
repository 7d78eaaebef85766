import { argumentsOf, linesIn, timeOf } from './arguments.ts';
import {
  DIMENSIONS,
  MAX_GROUPS,
  UsageReport,
  usageCsv,
  usageTable,
  type Dimension,
} from '../caller/audit/usage.ts';
import { readUsageConfig, readOrFail } from '../config/config.ts';
import { fail } from '../system/termination.ts';

const USAGE = `npm run usage -- [--since DAY] [--until DAY] [--by LIST] [--format table|csv] [FILE ...]
  Sums up the audit log: lookups, attempts, consents, answers without a lookup,
  what never finished, outcomes, and the price where the settings have one.
  DAY   2026-11-01, or a time such as 2026-11-01T08:00:00Z; a day begins at midnight UTC
  LIST  of ${DIMENSIONS.join(', ')}; day,operator,client,purpose if left out
  FILE  where the log is, gzipped or not; AUDIT_LOG and what it was rotated to if left out, - for standard input
`;

const { values, positionals } = argumentsOf(
  { texts: ['since', 'until', 'by', 'format'], allowPositionals: true },
  USAGE,
);
const { since, until, by = 'day,operator,client,purpose', format = 'table' } = values;
if (format !== 'table' && format !== 'csv') fail(`--format must be table or csv.\n${USAGE}`);
const dimensions = by.split(',').map((name): Dimension => {
  const dimension = DIMENSIONS.find((one) => one === name.trim());
  return dimension ?? fail(`--by knows ${DIMENSIONS.join(', ')}.\n${USAGE}`);
});
const range = { sinceMs: timeOf('--since', since), untilMs: timeOf('--until', until) };
const config = readOrFail(readUsageConfig);
const report = new UsageReport(dimensions, range, config.priceOf);
const startedAtMs = performance.now();
const further = ' Nothing is reported, since the sums would be too low.';
for await (const line of linesIn(positionals, config.auditLog, further)) report.add(line);
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
