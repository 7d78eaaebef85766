import { renderGraphiQL } from '@graphql-yoga/render-graphiql';

/** The page holds everything that it shows, and may reach only its server. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'unsafe-inline' 'unsafe-eval' blob:",
  "style-src 'unsafe-inline'",
  "connect-src 'self'",
  'worker-src blob:',
  'img-src data:',
  'font-src data:',
].join('; ');

/** What the page shows at first. */
interface ExplorerOptions {
  readonly title?: string | undefined;
  readonly defaultQuery?: string | undefined;
}

/** GraphiQL as one page that works offline; the pages of gateways and servers load theirs from the internet. */
export function explorerPage({ title = 'GraphQL', defaultQuery = '' }: ExplorerOptions): string {
  const policy = `<meta http-equiv="content-security-policy" content="${CONTENT_SECURITY_POLICY}" />`;
  return renderGraphiQL({ title, defaultQuery }).replace('<head>', `<head>${policy}`);
}
