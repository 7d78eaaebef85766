import { parseArgs } from 'node:util';
import { NO_REDIS } from '../redisServer.ts';
import { GUARDS, runConsentChaos, type Findings } from './consentChaos.ts';

const USAGE = `npm run consent-chaos -- [--consents N] [--without GUARD]
  --consents  how many consents are asked for while replicas die (1000)
  --without   one of ${GUARDS.join(', ')}
`;

/** There are so many test numbers, and one consent a number at a time. */
const CONSENTS_A_ROUND = 1000;

const { values } = parseArgs({
  options: { consents: { type: 'string', default: '1000' }, without: { type: 'string' } },
});
const consents = Number(values.consents);
const without = GUARDS.find((guard) => guard === values.without);
const isGuardUnknown = values.without !== undefined && without === undefined;
if (!Number.isInteger(consents) || consents < 1 || isGuardUnknown) {
  process.stderr.write(USAGE);
  process.exit(1);
}
if (NO_REDIS !== undefined) {
  process.stdout.write(`consent-chaos: ${NO_REDIS}\n`);
  process.exit(0);
}

let isWrong = false;
for (let left = consents; left > 0; left -= CONSENTS_A_ROUND) {
  const startedAtMs = performance.now();
  const findings = await runConsentChaos(Math.min(left, CONSENTS_A_ROUND), without);
  process.stdout.write(report(findings, (performance.now() - startedAtMs) / 1000));
  isWrong ||= Object.values<number>({ ...findings.wrong }).some((count) => count > 0);
}
process.stdout.write(isWrong ? 'WRONG\n' : 'nothing wrong\n');
process.exitCode = isWrong ? 1 : 0;

function report(findings: Findings, seconds: number): string {
  const { heard, ends, wrong, ...counts } = findings;
  return [
    `three replicas on one Redis (${seconds.toFixed(0)} s)\n`,
    ...rows(Object.entries(counts)),
    '  replies\n',
    ...rows([...heard]),
    '  ends\n',
    ...rows([...ends]),
    '  wrong\n',
    ...rows(Object.entries<number>({ ...wrong })),
  ].join('');
}

function rows(counts: readonly (readonly [string, number])[]): string[] {
  return counts.map(([name, count]) => `    ${name.padEnd(34)} ${count}\n`);
}
