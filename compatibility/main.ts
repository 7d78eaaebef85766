// oxlint-disable-next-line import/no-unassigned-import -- before anything imports graphql
import './oneGraphql.ts';

const { runJudges } = await import('./runJudges.ts');
await runJudges(process.argv.slice(2));
// A judge that took too long may still run.
process.exit();
