import { createInterface } from 'node:readline/promises';
import { styleText } from 'node:util';
import { argumentsOf, numberOf, settingsOf, TEXT } from './arguments.ts';
import { readOperatorsConfig } from '../config/config.ts';
import type { OperatorsConfig } from '../config/operators.ts';
import { byLongestPrefix, type PhoneNumber } from '../domain/phoneNumber.ts';
import type { NumberTrial } from '../../onboarding/askAbout.ts';
import { checkOperator } from '../../onboarding/checkOperator.ts';
import { areAllWell, type OperatorReport, type Verdict } from '../../onboarding/finding.ts';
import { checkTable, type Paint } from '../../onboarding/table.ts';
import { checkDirectory } from '../../onboarding/checkDirectory.ts';
import type { OperatorSettings } from '../operator/operatorSettings.ts';
import { systemClock } from '../system/clock.ts';
import { fail } from '../system/termination.ts';
import { watchFilesBy } from '../system/watchedFiles.ts';
import { asksOwner } from '../tokens/authorizationSettings.ts';

const USAGE = `npm run operators -- check [--operator NAME] [--timeout SECONDS] [--json]
                         [--number NUMBER [--other-number NUMBER] [--consent]]
  Tries name, connection, certificate, HTTP, credentials and scopes of each operator, and says what to do.
  Without --number no person is affected: no lookup is made, and no owner is prompted.
  NAME     the operator's, as in its settings; all of them if left out
  SECONDS  for each step, from 1 to 60; 5 if left out
  NUMBER   of a person who knows of it: + and the country code first, or - to read it from standard input,
           so that it stands in no history of a shell. It is asked about once, which the operator bills.
           Where the operator asks owners for consent, this one is prompted once, after --consent or a typed yes.
  --other-number  is asked about once as well, and once with a token of the first: does the operator refuse that?
  --json   for machines. The exit status is 1 if anything failed.
`;

const COLOURS = { ok: 'green', warning: 'yellow', failed: 'red', 'not tried': 'dim' } as const;

/** Only on a terminal, and only where that is wanted (NO_COLOR). */
const PAINT: Paint = (verdict: Verdict, text: string) =>
  styleText(COLOURS[verdict], text, { stream: process.stdout });

const [command, ...words] = process.argv.slice(2);
if (command !== 'check') fail(USAGE);
await checkOperators(readArguments());

async function checkOperators(wanted: ReturnType<typeof readArguments>): Promise<void> {
  const config = settingsOf(readOperatorsConfig);
  if (config.operators.length === 0) {
    fail('No operator is set. Set OPERATORS_FILE, or OPERATOR_….');
  }
  const chosen = operatorsNamed(config.operators, wanted.operator);
  const trial = await numberTrial(wanted, config, chosen);
  const parts = {
    timeoutMs: wanted.timeoutMs,
    clock: systemClock,
    watchFiles: watchFilesBy(systemClock),
  };
  const checks = chosen.map((settings) =>
    checkOperator({
      ...parts,
      settings,
      ...(trial?.operator === settings ? { number: trial.number } : {}),
    }),
  );
  const { directory } = config;
  if (directory !== undefined && wanted.operator === undefined) {
    checks.push(checkDirectory(directory, parts));
  }
  const reports = await Promise.all(checks);
  await print(wanted.json ? jsonOf(reports) : checkTable(reports, PAINT));
  // A name server that hangs would keep the process.
  process.exit(areAllWell(reports) ? 0 : 1);
}

function readArguments() {
  const flag = { type: 'boolean', default: false } as const;
  const { values } = argumentsOf(
    {
      args: words,
      options: {
        operator: TEXT,
        timeout: { type: 'string', default: '5' },
        json: flag,
        number: TEXT,
        'other-number': TEXT,
        consent: flag,
      },
    },
    USAGE,
  );
  const { operator, number, 'other-number': otherNumber, timeout, json, consent } = values;
  const seconds = /^\d{1,2}$/.test(timeout) ? Number(timeout) : 0;
  if (seconds < 1 || seconds > 60) return fail(`--timeout takes seconds from 1 to 60.\n${USAGE}`);
  if (number === undefined && (otherNumber !== undefined || consent)) {
    return fail(`--other-number and --consent go with --number.\n${USAGE}`);
  }
  return { operator, timeoutMs: seconds * 1000, json, consent, number, otherNumber };
}

function operatorsNamed(
  operators: readonly OperatorSettings[],
  name: string | undefined,
): readonly OperatorSettings[] {
  if (name === undefined) return operators;
  const found = operators.filter((one) => one.name === name);
  if (found.length > 0) return found;
  return fail(
    `No operator has this name. There are: ${operators.map((one) => one.name).join(', ')}.`,
  );
}

interface ChosenTrial {
  readonly operator: OperatorSettings;
  readonly number: NumberTrial;
}

/** Whom to ask about, and at which operator: the one that serves the number, and no other hears of it. */
async function numberTrial(
  wanted: ReturnType<typeof readArguments>,
  { directory }: OperatorsConfig,
  chosen: readonly OperatorSettings[],
): Promise<ChosenTrial | undefined> {
  if (wanted.number === undefined) return undefined;
  const [number, otherNumber] = await readNumbers([wanted.number, wanted.otherNumber]);
  if (number === undefined) return undefined;
  if (number === otherNumber) return fail('--other-number must be another number than --number.');
  if (directory !== undefined && wanted.operator === undefined) {
    return fail(
      'With a number directory the prefix does not say who serves a number: name --operator.',
    );
  }
  const operator = wanted.operator === undefined ? operatorOf(number, chosen) : chosen[0];
  if (operator === undefined)
    return fail('No operator has a prefix of this number: name --operator.');
  const mayPrompt =
    !asksOwner(operator.flow) || wanted.consent || (await confirmPrompt(operator, number));
  return { operator, number: { number, otherNumber, mayPrompt } };
}

function operatorOf(
  number: PhoneNumber,
  operators: readonly OperatorSettings[],
): OperatorSettings | undefined {
  const byPrefix = new Map(
    operators.flatMap((one) => one.prefixes.map((prefix) => [prefix, one] as const)),
  );
  return byLongestPrefix(byPrefix, number);
}

/** The numbers that are named; those written as - are lines of standard input. */
async function readNumbers(
  named: readonly (string | undefined)[],
): Promise<readonly (PhoneNumber | undefined)[]> {
  const typed = named.filter((one) => one === '-').length;
  const lines = typed === 0 ? [] : await readLines(typed);
  return named.map((text) => {
    if (text === undefined) return undefined;
    return numberOf(text === '-' ? (lines.shift() ?? '') : text);
  });
}

async function readLines(count: number): Promise<string[]> {
  const reader = createInterface({ input: process.stdin });
  if (process.stdin.isTTY) process.stderr.write('Phone number, one a line:\n');
  const lines: string[] = [];
  for await (const line of reader) {
    lines.push(line.trim());
    if (lines.length === count) break;
  }
  reader.close();
  return lines;
}

/** The number is named by its last two digits alone. */
async function confirmPrompt({ name }: OperatorSettings, number: PhoneNumber): Promise<boolean> {
  if (!process.stdin.isTTY) return false;
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  // Ctrl-C and Ctrl-D: no lookup was made, and none will be.
  reader.once('close', leave);
  const answer = await reader.question(
    `${name} will prompt the owner of the number that ends in ${number.slice(-2)}, once, and bill one lookup. Type yes to go on: `,
  );
  reader.off('close', leave).close();
  return answer.trim().toLowerCase() === 'yes';
}

function leave(): never {
  return fail('\nNo lookup was made.');
}

function jsonOf(reports: readonly OperatorReport[]): string {
  return `${JSON.stringify({ ok: areAllWell(reports), operators: reports }, null, 2)}\n`;
}

function print(text: string): Promise<void> {
  return new Promise((resolve) => {
    process.stdout.write(text, () => resolve());
  });
}
