import type { Finding } from './judge.ts';

/** A row of the page: what a judge made of the project. */
export interface Row {
  readonly name: string;
  readonly version: string;
  readonly passed: number;
  readonly total: number;
  /** The first that fails, and why; empty where all pass. */
  readonly fails: string;
}

const HEAD = ['judge', 'version', 'passed', 'first that fails'];

const LEAD = `# Compatibility

What others make of this project: texts, programs and packages that it did not write judge it. \`npm run compatibility\` runs them and writes this page; with \`-- WORD…\` it runs the judges whose names contain one of the words. CI runs those that take seconds (\`-- --short --check\`), and fails where a row fell.`;

const NOTES = `- CAMARA's texts are not part of this project: \`CAMARA_TEXTS\` names a folder with a folder for each release of camaraproject/SimSwap, such as \`r3.3/sim-swap.yaml\` (\`../shared/camara\` where it is not set). Without them their rows stay as they are. Judged are our requests by its schemas, what becomes of its refusals, and, from r1.3 on, our simulator by its scenarios. 0.4 wants the number with a 3-legged token as well: \`sendPhoneNumber: always\` of the profile. The simulator has no line without a SIM card, and no 3-legged token without a number; r3.1 has a file that is not Gherkin.
- Composers and gateways have the graph of \`ROLE=subgraph\` next to a subgraph that owns customers and their numbers, and one query about three: a number with a swap, one without, and one that the operator does not serve. Configuring a gateway: [graph.md](graph.md#configuring-a-router). Apollo Router and Cosmo Router were not tried.
- Federation 1 does not know \`@link\`: leave out the line of the SDL that begins with \`extend schema\`.
- Servers have the graph mounted next to types of another program as their own guides say ([library.md](library.md#mounting)), each error of a reply handed to \`maskError\`.
- GraphQL over HTTP recommends status 200 for what is refused before execution where a client accepts only \`application/json\`; here it is 4xx ([graph.md](graph.md#errors)).`;

export function rowOf(name: string, version: string, findings: readonly Finding[]): Row {
  const failed = findings.filter(({ failure }) => failure !== undefined);
  const [first] = failed;
  return {
    name,
    version,
    passed: findings.length - failed.length,
    total: findings.length,
    fails: first === undefined ? '' : inCell(`${first.about}: ${first.failure}`),
  };
}

/** The first words of a failure; a run prints all. */
const MAX_CELL = 100;

/** What a cell holds on one line, so that reading a page returns the rows that it was made of. */
function inCell(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').replaceAll('|', '/').trim();
  return line.length > MAX_CELL ? line.slice(0, MAX_CELL).replace(/ \S*$/, ' …') : line;
}

export function pageOf(rows: readonly Row[]): string {
  return [LEAD, tableOf(rows), NOTES].join('\n\n');
}

function tableOf(rows: readonly Row[]): string {
  const cells = rows.map(({ name, version, passed, total, fails }) => {
    return [name, version, `${passed} of ${total}`, fails];
  });
  return [HEAD, HEAD.map(() => '---'), ...cells].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

/** The rows of a page, as they were written. */
export function rowsOf(page: string): readonly Row[] {
  return page.split('\n').flatMap((line) => {
    const [, name = '', version = '', counts = '', fails = ''] = line.split('|');
    const [, passed, total] = /^ *(\d+) of (\d+) *$/.exec(counts) ?? [];
    if (passed === undefined || total === undefined) return [];
    const row = { name: name.trim(), version: version.trim(), fails: fails.trim() };
    return [{ ...row, passed: Number(passed), total: Number(total) }];
  });
}

/** Why the page may not become this: each row of which fewer pass, or more fail, than before. */
export function fallen(before: readonly Row[], after: readonly Row[]): readonly string[] {
  return after.flatMap(({ name, passed, total, fails }) => {
    const was = before.find((row) => row.name === name);
    if (was === undefined) return [];
    if (passed >= was.passed && total - passed <= was.total - was.passed) return [];
    return [`${name} fell from ${was.passed} of ${was.total} to ${passed} of ${total}: ${fails}`];
  });
}
