import { createInterface } from 'node:readline/promises';
import { styleText } from 'node:util';
import { argumentsOf, integerOf, numberOf } from './arguments.ts';
import { readOperatorsConfig, readOrFail } from '../config/config.ts';
import { byLongestPrefix, type PhoneNumber } from '../domain/phoneNumber.ts';
import type { NumberTrial } from '../../onboarding/tryNumber.ts';
import { checkDirectory, checkOperator } from '../../onboarding/checkOperator.ts';
import { areAllWell, type Verdict } from '../../onboarding/finding.ts';
import { checkTable, type Paint } from '../../onboarding/table.ts';
import type { OperatorSettings } from '../operator/operatorSettings.ts';
import { systemClock } from '../system/clock.ts';
import { fail } from '../system/termination.ts';
import { promptsOwner } from '../tokens/authorizationSettings.ts';

const USAGE = `npm run operators -- check [--operator NAME] [--timeout SECONDS] [--json]
                         [--number NUMBER [--other-number NUMBER] [--consent]]
  Tests name, connection, certificate, HTTP, credentials and scopes of each operator, and says what to do.
  Without --number no person is affected: no lookup is made, and no owner is prompted.
  NAME     the operator's, as in its settings; all of them if left out
  SECONDS  for each step, from 1 to 60; 5 if left out
  NUMBER   of a person who knows of it: + and the country code first, or - to read it from standard input,
           so that no shell history has it. It is looked up once, which the operator bills.
           In the 3-legged flow its owner is prompted once, after --consent or a typed yes.
  --other-number  is looked up once as well, and once with a token of the first: does the operator refuse that?
  --json   for machines. The exit status is 1 if anything failed.
`;

const COLOURS = { ok: 'green', warning: 'yellow', failed: 'red', 'not tried': 'dim' } as const;

/** Only on a terminal, and not with NO_COLOR. */
const PAINT: Paint = (verdict: Verdict, text: string) =>
  styleText(COLOURS[verdict], text, { stream: process.stdout });

const [command, ...words] = process.argv.slice(2);
if (command !== 'check') {
  fail(command === undefined ? USAGE : `The only command is check.\n${USAGE}`);
}
const wanted = readArguments();
const { operators, directory, purposes } = readOrFail(readOperatorsConfig);
if (operators.length === 0) fail('No operator is set. Set OPERATORS_FILE, or OPERATOR_….');
const chosen = operators.filter(({ name }) => name === (wanted.operator ?? name));
if (chosen.length === 0) {
  const names = operators.map(({ name }) => name).join(', ');
  fail(`No operator has this name. The operators are: ${names}.`);
}
const needsName = directory !== undefined && wanted.operator === undefined;
const trial = await numberTrial();
const parts = { timeoutMs: wanted.timeoutMs, clock: systemClock };
const reports = await Promise.all([
  ...chosen.map((settings) => {
    const number = trial?.operator === settings ? trial.number : undefined;
    return checkOperator({ ...parts, settings, purposes, number });
  }),
  ...(needsName ? [checkDirectory(directory, parts)] : []),
]);
const isWell = areAllWell(reports);
const report = wanted.json
  ? `${JSON.stringify({ ok: isWell, operators: reports }, null, 2)}\n`
  : checkTable(reports, PAINT);
// A hanging name server would keep the process alive.
process.stdout.write(report, () => process.exit(isWell ? 0 : 1));

function readArguments() {
  const texts = ['operator', 'timeout', 'number', 'other-number'] as const;
  const { values } = argumentsOf({ args: words, texts, flags: ['json', 'consent'] }, USAGE);
  const { operator, number, 'other-number': otherNumber, timeout = '5' } = values;
  const { json = false, consent = false } = values;
  const timeoutMs = integerOf('--timeout', timeout, 1, 60) * 1000;
  if (number === undefined && (otherNumber !== undefined || consent)) {
    return fail(`--other-number and --consent require --number.\n${USAGE}`);
  }
  return { operator, timeoutMs, json, consent, number, otherNumber };
}

/** The number to check, and its operator: no other operator gets the number. */
async function numberTrial(): Promise<
  { operator: OperatorSettings; number: NumberTrial } | undefined
> {
  if (wanted.number === undefined) return undefined;
  const [number, otherNumber] = await readNumbers([wanted.number, wanted.otherNumber]);
  if (number === undefined) return undefined;
  if (number === otherNumber) return fail('--other-number must be another number than --number.');
  if (needsName) {
    return fail(
      'With a number directory the prefix does not say who serves a number: name --operator.',
    );
  }
  const byPrefix = new Map(
    chosen.flatMap((one) => one.prefixes.map((prefix) => [prefix, one] as const)),
  );
  const operator = wanted.operator === undefined ? byLongestPrefix(byPrefix, number) : chosen[0];
  if (operator === undefined)
    return fail('No operator has a prefix of this number: name --operator.');
  const mayPrompt =
    !promptsOwner(operator.flow) || wanted.consent || (await confirmPrompt(operator, number));
  return { operator, number: { number, otherNumber, mayPrompt } };
}

/** The numbers of the arguments; `-` reads them from standard input. */
async function readNumbers(
  named: readonly (string | undefined)[],
): Promise<readonly (PhoneNumber | undefined)[]> {
  const count = named.filter((one) => one === '-').length;
  const lines: string[] = [];
  if (count > 0) {
    const reader = createInterface({ input: process.stdin });
    if (process.stdin.isTTY) process.stderr.write('Phone numbers, one per line:\n');
    for await (const line of reader) {
      lines.push(line.trim());
      if (lines.length === count) break;
    }
    reader.close();
  }
  return named.map((text) =>
    text === undefined ? undefined : numberOf(text === '-' ? (lines.shift() ?? '') : text),
  );
}

/** Shows only the last two digits of the number. */
async function confirmPrompt({ name }: OperatorSettings, number: PhoneNumber): Promise<boolean> {
  if (!process.stdin.isTTY) return false;
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  // Ctrl-C and Ctrl-D: no lookup is made.
  reader.once('close', leave);
  const answer = await reader.question(
    `${name} will prompt the owner of the number that ends in ${number.slice(-2)}, once, and bill one lookup. Type yes to continue: `,
  );
  reader.off('close', leave).close();
  return answer.trim().toLowerCase() === 'yes';
}

function leave(): never {
  return fail('\nNo lookup was made.');
}
