import { readFileSync } from 'node:fs';
import { afterAll, expect, it } from 'vitest';
import type { NumberTrial } from '../../onboarding/tryNumber.ts';
import { checkTable } from '../../onboarding/table.ts';
import { startSimulator } from '../../simulator/simulator.ts';
import { check, number } from './checked.ts';
import { PassingTime } from './passingTime.ts';
import { OperatorsFile } from '../support/operatorsFile.ts';

const PAGE = readFileSync(new URL('../../docs/operators.md', import.meta.url), 'utf8');

/** The lines after a command in the page, up to the end of the block. */
function shown(command: string): string {
  const [, after = ''] = PAGE.split(`$ ${command}\n`);
  return comparable(after.split('```', 1).join(''));
}

/** Without what differs from run to run: ports, and so the widths of columns. */
function comparable(text: string): string {
  return text
    .replaceAll(/(?<=127\.0\.0\.1:)\d+/g, 'PORT')
    .replaceAll(/ {2,}/g, '  ')
    .trim();
}

const time = new PassingTime();
const northern = await startSimulator({ port: 0, dialect: '1.0' });
const southern = await startSimulator({ port: 0, nowMs: () => time.nowMs() });

afterAll(async () => {
  await Promise.all([northern.close(), southern.close()]);
});

async function printed(
  name: 'northern' | 'southern',
  secret = 'demo-secret',
  trial?: NumberTrial,
): Promise<string> {
  const { authUrl, simSwapUrl } = name === 'northern' ? northern : southern;
  const flow = name === 'northern' ? '2-legged' : '3-legged';
  const client = { method: 'basic', id: 'demo-client', secret: { variable: 'SECRET' } };
  const file = new OperatorsFile([
    { name, prefixes: ['default'], flow, authUrl, simSwapUrl, client },
  ]);
  const environment = { OPERATORS_FILE: file.path, SECRET: secret };
  const report = await check(environment, { number: trial, clock: time });
  return comparable(checkTable([report], (_, text) => text));
}

it('docs/operators.md shows what check prints', async () => {
  const command =
    'SOUTHERN_SECRET=demo-secret OPERATORS_FILE=operators.jsonc npm run operators -- check --operator southern';
  expect(await printed('southern')).toBe(shown(command));
});

it.each([
  [
    'says of a wrong secret',
    /^(?:southern {2}credentials|- southern)/,
    2,
    { secret: 'demo-secrte', trial: undefined },
  ],
  [
    'learns of a number',
    /^southern {2}(?:consent|lookup|billed)/,
    3,
    { secret: 'demo-secret', trial: { number: number('+447700900050'), mayPrompt: true } },
  ],
])('docs/operators.md shows what check %s', async (_, shows, count, { secret, trial }) => {
  expectShown(await printed('southern', secret, trial), shows, count);
});

it('docs/operators.md shows what check learns of another number', async () => {
  const [of, another] = [number('+447700900004'), number('+447700900001')];
  const trial = { number: of, otherNumber: another, mayPrompt: true };
  const shows = /^(?:northern {2}(?:tokens|billed)|- northern)/;
  expectShown(await printed('northern', 'demo-secret', trial), shows, 3);
});

/** The page has those lines of what was printed, of which there are `count`. */
function expectShown(text: string, shows: RegExp, count: number): void {
  const lines = text.split('\n').filter((line) => shows.test(line));
  expect(lines).toHaveLength(count);
  for (const line of lines) expect(comparable(PAGE)).toContain(line);
}
