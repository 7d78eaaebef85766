import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { pageOf, type Reply } from './reply.ts';
import type { Role } from './typeDefs.ts';

/**
 * The page of GraphiQL, for a browser that opens /graphql; where its package is not installed, a hint on how to install it. It
 * is before the gate: for loopback only.
 */
export type Explorer = () => Promise<Reply>;

/** The page holds everything that it shows, and may reach only this service. */
const EXPLORER_POLICY = [
  "default-src 'none'",
  "script-src 'unsafe-inline' 'unsafe-eval' blob:",
  "style-src 'unsafe-inline'",
  "connect-src 'self'",
  'worker-src blob:',
  'img-src data:',
  'font-src data:',
  "frame-ancestors 'none'",
].join('; ');

/**
 * GraphiQL keeps its tabs for each address, and so those of another role that was tried at the same one: what
 * was kept with another opening document goes. Runs in the browser.
 */
const FORGET_OTHER_TABS = `(opening) => {
  if (localStorage.getItem('sim-swap:opening') === opening) return;
  for (const name of Object.keys(localStorage)) {
    if (name.startsWith('graphiql')) localStorage.removeItem(name);
  }
  localStorage.setItem('sim-swap:opening', opening);
}`;

/** Its page has 9 MB: it is made at the first request for it, and all replies share its bytes. */
export function createExplorer(document: string): Explorer {
  let rendered: Promise<Reply> | undefined;
  return () => (rendered ??= render(document).then((html) => pageOf(html, EXPLORER_POLICY)));
}

/** Whether a browser requests a page, and not a client data. */
export function wantsPage({ method, url = '', headers }: IncomingMessage): boolean {
  return method === 'GET' && !url.includes('?') && (headers.accept ?? '').includes('text/html');
}

async function render(document: string): Promise<string> {
  try {
    const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
    const page = renderGraphiQL({ title: 'SIM swap', defaultQuery: document });
    const opening = hash('sha256', document, 'base64url');
    return page.replace('<head>', `<head><script>(${FORGET_OTHER_TABS})('${opening}')</script>`);
  } catch {
    return '<p>The explorer is a development package: <code>npm ci</code>.</p>';
  }
}

const FRONT_PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

/** The page at `/`: what this service is, and where its endpoints are. It loads nothing. */
export function frontPage(role: Role, hasExplorer: boolean): Reply {
  const [name, client] = role === 'bff' ? ['BFF', 'apps'] : ['subgraph', 'a router'];
  const graphql = hasExplorer
    ? '<a href="/graphql">/graphql</a>: GraphQL. A browser sees an explorer to try queries in.'
    : '/graphql: GraphQL, by POST.';
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>SIM swap</title>
<style>body { max-width: 40em; margin: 3em auto; padding: 0 1em; font: 1.1em/1.5 system-ui, sans-serif }</style>
<h1>SIM swap</h1>
<p>This is the SIM swap ${name}. For ${client}, it answers whether and when the SIM card of a phone number changed.
<ul>
<li>${graphql}
<li><a href="/livez">/livez</a>: whether the process is alive.
<li><a href="/readyz">/readyz</a>: whether it can answer.
</ul>
<p>What to query, and what each answer means: docs/adopting.md and docs/errors.md of the project.
</html>
`;
  return pageOf(html, FRONT_PAGE_POLICY);
}
