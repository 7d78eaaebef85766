import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  SECTIONS as SETTINGS,
  variablesOf,
  type Audience,
  type Setting,
} from '../src/config/settings.ts';
import { pretty, type MadeFile } from './madeFile.ts';

const DOCS = fileURLToPath(new URL('../docs/settings.md', import.meta.url));
const EXAMPLE = fileURLToPath(new URL('../.env.example', import.meta.url));

/** The tables are between these two markers. */
const TABLES = /(?<=<!-- settings -->\n)[^]*?(?=<!-- \/settings -->)/;

/** The length of a line of .env.example. */
const MAX_LINE_CHARACTERS = 110;

interface Section {
  readonly heading: string;
  readonly introduction: string;
}

/** In the order in which a reader needs them. */
const SECTIONS: Readonly<Record<Audience, Section>> = {
  try: { heading: 'To try it', introduction: 'Address, port and role.' },
  operator: {
    heading: 'The operator',
    introduction: 'One operator; several are in `OPERATORS_FILE`.',
  },
  callers: { heading: 'Callers', introduction: 'Who may query, and for which purposes.' },
  consent: {
    heading: 'Consent',
    introduction:
      'The 3-legged flow: how long to wait for the owner of a number, and how often to prompt.',
  },
  limits: {
    heading: 'Limits',
    introduction: 'How much an operation and a caller may query, and how long it may take.',
  },
  observe: {
    heading: 'Logs, metrics and audit',
    introduction: 'What the service logs and counts.',
  },
  egress: {
    heading: 'Other connections',
    introduction:
      "How everything but operators is reached: the issuer's keys, the number directory, discovery documents and the collector of traces.",
  },
  share: { heading: 'Several replicas', introduction: 'The state that replicas share.' },
  web: {
    heading: 'Browsers',
    introduction: 'Which pages may call the service.',
  },
};

/** Makes docs/settings.md, and .env.example with every default. */
export async function makeSettingsFiles(): Promise<readonly MadeFile[]> {
  const docs = readFileSync(DOCS, 'utf8').replace(TABLES, () => `\n${sectionsText()}\n`);
  return [
    { path: DOCS, text: await pretty(docs, DOCS) },
    { path: EXAMPLE, text: exampleText() },
  ];
}

type Named = readonly [name: string, setting: Setting];

function eachSection<T>(make: (section: Section, settings: readonly Named[]) => T): readonly T[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.keys forgets the names
  return (Object.keys(SECTIONS) as Audience[]).map((audience) =>
    make(SECTIONS[audience], Object.entries(SETTINGS[audience])),
  );
}

function sectionsText(): string {
  return eachSection(({ heading, introduction }, settings) =>
    [`## ${heading}`, introduction, tableOf(settings), ...detailsOf(settings)].join('\n\n'),
  ).join('\n\n');
}

function tableOf(settings: readonly Named[]): string {
  const rows = settings.map(([name, setting]) => {
    const names = variablesOf(name, setting).map(code).join(' or ');
    const cells = [names, setting.takes, defaultCell(setting), setting.description];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  });
  return ['| name | takes | default | what it sets |', '| - | - | - | - |', ...rows].join('\n');
}

function detailsOf(settings: readonly Named[]): readonly string[] {
  const details = settings.flatMap(([name, { detail }]) =>
    detail === '' ? [] : [`- ${code(name)}: ${detail}`],
  );
  return details.length === 0 ? [] : [details.join('\n')];
}

function defaultCell(setting: Setting): string {
  if (setting.whenUnset !== undefined) return setting.whenUnset;
  const value = String(setting.default ?? '');
  return value === '' ? '' : code(value);
}

function exampleText(): string {
  const sections = eachSection(({ heading, introduction }, settings) =>
    [
      `## ${heading}: ${uncapitalised(introduction)}`,
      ...settings.flatMap((named) => exampleLines(named)),
    ].join('\n'),
  );
  const head =
    '# Every setting with its default, as docs/settings.md explains them. Copy this to .env and change what you need;\n' +
    '# left empty is not set. Made by npm run generate from src/config/settings.ts.';
  return `${[head, ...sections].join('\n\n')}\n`;
}

function exampleLines([name, setting]: Named): readonly string[] {
  const [variable = '', ...others] = variablesOf(name, setting);
  return [
    ...commentLines(commentOf(setting)),
    `${variable}=${exampleValue(setting)}`,
    ...others.flatMap((other) => ['# Or a file that holds it.', `${other}=`]),
  ];
}

function commentOf(setting: Setting): string {
  const { description, detail, whenUnset } = setting;
  const fallback = whenUnset === undefined ? '' : `Where not set: ${whenUnset}.`;
  return [description, detail, boundsOf(setting), fallback]
    .filter((part) => part !== '')
    .join(' ')
    .replaceAll(/\[([^\]]*\.md)\]\([^)]*\)/g, 'docs/$1')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('`', '');
}

function boundsOf({ takes }: Setting): string {
  if (/^\d/.test(takes)) return `From ${takes}.`;
  return takes.startsWith('`') ? `One of ${takes}.` : '';
}

function exampleValue({ default: value, isLeftEmpty }: Setting): string {
  return isLeftEmpty === true || value === undefined ? '' : String(value);
}

/** A comment, wrapped between words. */
function commentLines(text: string): readonly string[] {
  const lines: string[] = [];
  let line = '#';
  for (const word of text.split(' ')) {
    if (line.length + 1 + word.length > MAX_LINE_CHARACTERS) {
      lines.push(line);
      line = '#';
    }
    line += ` ${word}`;
  }
  return [...lines, line];
}

function uncapitalised(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

function code(text: string): string {
  return `\`${text}\``;
}
