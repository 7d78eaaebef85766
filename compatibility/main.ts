// oxlint-disable-next-line import/no-unassigned-import -- before anything imports graphql
import './oneGraphql.ts';

// `npm run compatibility` writes docs/compatibility.md; with `--check` it fails where that is not what came of trying.
const { run } = await import('./table.ts');
await run(process.argv.includes('--check'));
