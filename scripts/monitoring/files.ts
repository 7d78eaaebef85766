import { fileURLToPath } from 'node:url';
import { pretty, type MadeFile } from '../madeFile.ts';
import { dashboard } from './dashboard.ts';
import { durationsTimes, type Duration } from './expressions.ts';
import { ruleGroups } from './rules.ts';

const FOLDER = new URL('../../monitoring/', import.meta.url);
const RULES = fileURLToPath(new URL('rules.yml', FOLDER));
const DASHBOARD = fileURLToPath(new URL('dashboard.json', FOLDER));

const MADE = '# Made by npm run generate from scripts/monitoring/rules.ts.\n';

/** Makes the rules for Prometheus and the dashboard for Grafana. */
export async function makeMonitoringFiles(): Promise<readonly MadeFile[]> {
  return [
    { path: RULES, text: await pretty(MADE + rulesText(durationsTimes(1)), RULES) },
    { path: DASHBOARD, text: await pretty(JSON.stringify(dashboard()), DASHBOARD) },
  ];
}

/** The rules as YAML. Pure. */
export function rulesText(duration: Duration): string {
  const groups = ruleGroups(duration).map(({ name, rules }) => {
    const texts = rules.map((rule) => listItem(Object.entries(rule), '      '));
    return `  - name: ${name}\n    rules:\n${texts.join('')}`;
  });
  return `groups:\n${groups.join('')}`;
}

function listItem(members: readonly (readonly [string, unknown])[], indent: string): string {
  const lines = members.map(([name, value]) => member(name, value, `${indent}  `)).join('');
  return `${indent}- ${lines.slice(indent.length + 2)}`;
}

function member(name: string, value: unknown, indent: string): string {
  if (typeof value === 'object' && value !== null) {
    const inner = Object.entries(value).map(([one, text]) => member(one, text, `${indent}  `));
    return `${indent}${name}:\n${inner.join('')}`;
  }
  const text = String(value);
  if (name !== 'expr') return `${indent}${name}: ${JSON.stringify(text)}\n`;
  // A block, in which quotes stand for themselves.
  const lines = text.split('\n').map((line) => `${indent}  ${line}\n`);
  return `${indent}expr: |-\n${lines.join('')}`;
}
