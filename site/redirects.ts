import { globSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Lets the site serve each page under the name of its file too, such as `/errors.md#OPERATOR_TIMEOUT`: errors and alerts
 * link there below DOCS_URL, which may be a forge or the site.
 */
export function writeRedirects(built: string, base: string): void {
  for (const page of globSync('**/*.html', { cwd: built })) {
    const name = page.replace(/\.html$/, '.md');
    mkdirSync(join(built, name), { recursive: true });
    const redirect = redirectTo(`${base}${page}`);
    writeFileSync(join(built, name, 'index.html'), redirect);
    // For servers that add `.html`, rather than look into folders; ours does.
    writeFileSync(join(built, `${name}.html`), redirect);
  }
}

function redirectTo(address: string): string {
  return `<!doctype html>
<meta charset="utf-8" />
<title>Moved</title>
<script>location.replace(${JSON.stringify(address)} + location.hash);</script>
<p><a href="${address}">The page is here.</a></p>
`;
}
