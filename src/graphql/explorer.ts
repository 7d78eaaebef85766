import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { pageOf, type Reply } from './reply.ts';
import type { Role } from './typeDefs.ts';

/**
 * The page of GraphiQL, for a browser that opens /graphql; where its package is not installed, a hint on how to install
 * it. It is served without the gate, and so on loopback only.
 */
export type Explorer = () => Promise<Reply>;

/** What the page opens with. */
export interface ExplorerOpening {
  /** Each has a tab. */
  readonly documents: readonly string[];
  /** The headers that the service requires, each with a placeholder. */
  readonly headers: Readonly<Record<string, string>>;
  /** The simulator's; empty where the operator is real. */
  readonly testNumbers: readonly { readonly number: string; readonly does: string }[];
}

/** The page contains everything that it shows, and may connect only to this service. */
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

/** In narrower windows the panel is above, closed, and GraphiQL's answer is below its query. */
const PANEL_BELOW_PX = 1100;

const STYLE = `
  body { display: grid; grid-template: minmax(0, 1fr) / minmax(0, 1fr) auto; height: 100dvh; margin: 0; }
  #root { min-width: 0; min-height: 0; height: auto; overflow: hidden; }
  #root .graphiql-container { width: 100%; height: 100%; }
  aside { overflow: auto; padding: 16px; border-left: 1px solid light-dark(#e7e8ec, #3a3e47); background: light-dark(#fff, #212a3b); color: light-dark(#3b4151, #c6cad3); font: 13px/1.45 system-ui, sans-serif; }
  :root { color-scheme: light; }
  :root:has(.graphiql-dark) { color-scheme: dark; }
  @media (prefers-color-scheme: dark) { :root:not(:has(.graphiql-light)) { color-scheme: dark; } }
  aside:has([open]) { width: 300px; }
  aside summary { cursor: pointer; }
  aside h1 { display: inline; font: inherit; font-weight: 600; }
  .graphiql-logo span { color: light-dark(#3b4151, #c6cad3) !important; }
  aside p { margin: 8px 0; }
  aside ul { margin: 0; padding: 0; list-style: none; }
  aside li { padding: 6px 0; border-top: 1px solid light-dark(#e7e8ec, #3a3e47); }
  aside button { display: block; padding: 0; border: 0; background: none; color: light-dark(#3d4fd6, #a3afff); font: inherit; font-variant-numeric: tabular-nums; cursor: pointer; }
  @media (max-width: ${PANEL_BELOW_PX}px) {
    body { grid-template: auto minmax(0, 1fr) / minmax(0, 1fr); }
    aside { order: -1; width: auto !important; max-height: 50dvh; padding: 10px 16px; border: 0; }
  }
  @media (max-width: 700px) {
    #root .graphiql-container { flex-direction: column; }
    #root .graphiql-sidebar { flex-direction: row; width: auto; }
    .graphiql-main, .graphiql-sessions { min-width: 0; min-height: 0; margin: 0 !important; }
    .graphiql-logo, .graphiql-horizontal-drag-bar { display: none !important; }
    :has(> .graphiql-editors) { flex-direction: column !important; }
    .graphiql-editors, .graphiql-response { width: auto !important; min-height: 0; flex: 1 1 0 !important; overflow: hidden; }
    .graphiql-tabs { overflow-x: auto; }
  }
`;

/**
 * Runs in the browser, before GraphiQL. GraphiQL keeps its tabs for each address, including those of another role that
 * was tried at the same one: tabs that were kept with another opening are removed. On the first visit the first tab is
 * run, where it costs nothing. GraphiQL would write each edit into the address, which would make a reload a client's
 * request: this prevents it.
 */
const PREPARE = `(opening, runsFirst) => {
  history.replaceState = () => undefined;
  addEventListener('click', ({ target }) => {
    const number = target.closest?.('[data-copy]');
    if (number === null || number === undefined) return;
    navigator.clipboard.writeText(number.dataset.copy).then(() => {
      document.getElementById('copied').textContent = 'Copied ' + number.dataset.copy;
    });
  });
  addEventListener('DOMContentLoaded', () => {
    document.querySelector('.panel').open = innerWidth > ${PANEL_BELOW_PX};
  });
  if (localStorage.getItem('sim-swap:opening') === opening) return;
  for (const name of Object.keys(localStorage)) {
    if (name.startsWith('graphiql')) localStorage.removeItem(name);
  }
  localStorage.setItem('sim-swap:opening', opening);
  if (!runsFirst) return;
  const observer = new MutationObserver(() => {
    const execute = document.querySelector('.graphiql-execute-button');
    if (execute === null) return;
    observer.disconnect();
    execute.click();
  });
  observer.observe(document, { childList: true, subtree: true });
}`;

/** The page has 9 MB: it is made when it is first requested, and all replies share its bytes. */
export function createExplorer(opening: ExplorerOpening): Explorer {
  let rendered: Promise<Reply> | undefined;
  return () => (rendered ??= render(opening).then((html) => pageOf(html, EXPLORER_POLICY)));
}

/** Whether a browser requests a page, rather than a client data. */
export function wantsPage({ method, url = '', headers }: IncomingMessage): boolean {
  return method === 'GET' && !url.includes('?') && (headers.accept ?? '').includes('text/html');
}

async function render({ documents, headers, testNumbers }: ExplorerOpening): Promise<string> {
  const headerText = Object.keys(headers).length === 0 ? null : JSON.stringify(headers, null, 2);
  const tabs = documents.map((query) => ({ query, headers: headerText }));
  const id = hash('sha256', JSON.stringify(tabs), 'base64url');
  const runsFirst = testNumbers.length > 0 && headerText === null;
  const head = `<head><meta name="viewport" content="width=device-width"><style>${STYLE}</style><script>(${PREPARE})('${id}', ${runsFirst})</script>`;
  const panel = `<main id="root"></main>${panelOf(headerText !== null, testNumbers)}`;
  try {
    const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
    return renderGraphiQL({
      title: 'SIM swap',
      defaultTabs: tabs,
      defaultEditorToolsVisibility: headerText === null ? false : 'headers',
    })
      .replace('<head>', () => head)
      .replace('<div id="root"></div>', () => panel);
  } catch {
    return '<p>The explorer is a development package: <code>npm ci</code>.</p>';
  }
}

function panelOf(needsHeaders: boolean, testNumbers: ExplorerOpening['testNumbers']): string {
  const token = needsHeaders
    ? '<p>This server needs an access token. Put yours in place of the placeholder under "Headers", below the query, then fetch the schema again with the round arrow.</p>'
    : '';
  const numbers = testNumbers.map(
    ({ number, does }) =>
      `<li><button type="button" data-copy="${number}">${number}</button> ${escaped(does)}</li>`,
  );
  const list =
    numbers.length === 0
      ? '<p>The operator is a real one: it answers for its own numbers, and bills lookups.</p>'
      : `<p>The operator is simulated. Each of its numbers does one thing; a click copies it.</p><p id="copied" role="status"></p><ul>${numbers.join('')}</ul>`;
  return `<aside aria-label="Test numbers"><details class="panel"><summary><h1>Test numbers</h1></summary>${token}${list}</details></aside>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
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
