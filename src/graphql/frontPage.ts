import { pageOf, type Reply } from './reply.ts';
import type { Role } from './schema.ts';

/** The page brings its style along, and nothing else. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

export interface FrontPageSettings {
  readonly role: Role;
  readonly hasExplorer: boolean;
}

const ROLES: Readonly<Record<Role, string>> = {
  bff: 'This is the SIM swap BFF. It tells apps whether and when the SIM card of a phone number changed.',
  subgraph:
    'This is the SIM swap subgraph. It tells a router whether and when the SIM card of a phone number changed.',
};

/** The page at `/`: what this service is, and where its endpoints are. It loads nothing. */
export function frontPage(settings: FrontPageSettings): Reply {
  return pageOf(html(settings), CONTENT_SECURITY_POLICY);
}

function html({ role, hasExplorer }: FrontPageSettings): string {
  const graphql = hasExplorer
    ? '<a href="/graphql">/graphql</a>: GraphQL. A browser sees an explorer to try queries in.'
    : '/graphql: GraphQL, by POST.';
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>SIM swap</title>
<style>body { max-width: 40em; margin: 3em auto; padding: 0 1em; font: 1.1em/1.5 system-ui, sans-serif }</style>
<h1>SIM swap</h1>
<p>${ROLES[role]}
<ul>
<li>${graphql}
<li><a href="/livez">/livez</a>: whether the process lives.
<li><a href="/readyz">/readyz</a>: whether it can answer.
</ul>
<p>What to ask, and what each answer means: docs/adopting.md and docs/errors.md of the project.
</html>
`;
}
