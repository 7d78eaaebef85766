import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { pretty } from '../scripts/madeFile.ts';
import { COMPOSERS } from './composers.ts';
import { askGateway, GATEWAYS } from './gateways.ts';
import { startSubgraphs } from './graph.ts';
import { askServer, SERVERS } from './servers.ts';

const PAGE = fileURLToPath(new URL('../docs/compatibility.md', import.meta.url));

/** Tries all of them, and writes or compares the page. */
export async function run(isCheck: boolean): Promise<void> {
  const text = await pretty(await makePage(), PAGE);
  process.stdout.write(text);
  if (!isCheck) writeFileSync(PAGE, text);
  else if (readFileSync(PAGE, 'utf8') !== text) {
    process.stderr.write('docs/compatibility.md is not what came of it: npm run compatibility\n');
    process.exitCode = 1;
  }
}

async function makePage(): Promise<string> {
  await using subgraphs = await startSubgraphs();
  const composed = Object.entries(COMPOSERS).map(([name, { packages, federation, compose }]) => {
    const { errors } = compose(subgraphs.of(federation));
    return [name, versionsOf(packages), errors.length === 0 ? 'yes' : errors.join(' ')];
  });
  const gateways = [];
  for (const [name, gateway] of Object.entries(GATEWAYS)) {
    const { code, othersAnswered, requests, lookups } = await askGateway(gateway, subgraphs);
    gateways.push([
      name,
      versionsOf(gateway.packages),
      gateway.composer,
      `${requests} and ${lookups}`,
      code,
      yesOrNo(othersAnswered),
    ]);
  }
  const servers = [];
  for (const [name, server] of Object.entries(SERVERS)) {
    const { code, othersAnswered, lookups, quotes } = await askServer(server);
    servers.push([
      name,
      versionsOf(server.packages),
      lookups,
      code,
      yesOrNo(othersAnswered),
      yesOrNo(!quotes),
    ]);
  }
  return [
    '# Compatibility',
    'What composers, gateways and GraphQL servers make of the graph. `npm run compatibility` tries them and writes this page.',
    'One query about three customers: a number with a swap, one without, and one that the operator does not serve.',
    '## Composers',
    'The subgraph of `ROLE=subgraph`, beside one that owns customers and their numbers.',
    table(['composer', 'package', 'composes'], composed),
    'Federation 1 does not know `@link`: leave out the line of the SDL that begins with `extend schema`.',
    '## Gateways',
    table(
      [
        'gateway',
        'package',
        'composed by',
        'requests to the subgraph, and lookups',
        'code of the number that is not served',
        'the others are answered',
      ],
      gateways,
    ),
    '"at …" is the path of the error, where it is not the path of that number: another customer would be blamed. Configuring a gateway: [graph.md](graph.md#configuring-a-router). Apollo Router and Cosmo Router are programs that could not be had where this was written.',
    '## Servers',
    'The graph of `ROLE=bff` mounted beside types of another program ([library.md](library.md#mounting)), each error of a reply handed to `maskError`.',
    table(
      [
        'server',
        'package',
        'lookups',
        'code of the number that is not served',
        'the others are answered',
        'quotes no number that it refuses',
      ],
      servers,
    ),
  ].join('\n\n');
}

function table(head: readonly string[], rows: readonly (readonly unknown[])[]): string {
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function line(cells: readonly unknown[]): string {
  return `| ${cells.join(' | ')} |`;
}

function yesOrNo(is: boolean): string {
  return is ? 'yes' : '**no**';
}

const { packages: LOCKED } = JSON.parse(
  readFileSync(new URL('package-lock.json', import.meta.url), 'utf8'),
) as { packages: Readonly<Record<string, { readonly version: string }>> };

function versionsOf(names: readonly string[]): string {
  return names.map((name) => `${name} ${LOCKED[`node_modules/${name}`]?.version}`).join(', ');
}
