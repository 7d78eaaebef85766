import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { pageOf, type Reply } from './reply.ts';

/** GraphiQL, for a browser that opens /graphql. It stands before the gate: for loopback alone. */
export interface Explorer {
  /** The page; where its package is not installed, a word on how to get it. */
  page(): Promise<Reply>;
}

/** The page brings all that it shows along. What it may reach is this service, and nothing else. */
const CONTENT_SECURITY_POLICY = [
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
 * was kept beside another opening document goes. Runs in the browser.
 */
const FORGET_OTHER_TABS = `(opening) => {
  if (localStorage.getItem('sim-swap:opening') === opening) return;
  for (const name of Object.keys(localStorage)) {
    if (name.startsWith('graphiql')) localStorage.removeItem(name);
  }
  localStorage.setItem('sim-swap:opening', opening);
}`;

/**
 * An explorer that opens with a document. Its page is 9 MB, so it is made when first asked for, and all
 * replies share its bytes.
 */
export function createExplorer(document: string): Explorer {
  let rendered: Promise<Reply> | undefined;
  return {
    page() {
      rendered ??= render(document).then((html) => pageOf(html, CONTENT_SECURITY_POLICY));
      return rendered;
    },
  };
}

/** Whether a browser asks for a page, rather than a client for data. */
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
