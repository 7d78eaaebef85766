import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';

/** The links of the built site without a target, and what it would fetch from elsewhere: nothing. */
export function brokenIn(built: string, base: string): readonly string[] {
  const pages = new Map(
    globSync('**/*.html', { cwd: built }).map(
      (page) => [page, readFileSync(join(built, page), 'utf8')] as const,
    ),
  );
  return Array.from(pages).flatMap(([page, html]) => [
    ...linksIn(html)
      .filter((link) => !isThere(link, page))
      .map((link) => `${page}: ${link}`),
    ...Array.from(html.matchAll(/<(?:script|link|img)\b[^>]*(?:src|href)="(https?:[^"]*)"/g)).map(
      ([, address]) => `${page}: fetches ${address}`,
    ),
  ]);

  function isThere(link: string, from: string): boolean {
    const [path = '', anchor = ''] = decodeURIComponent(link).split('#');
    const target = path === '' ? from : fileAt(path, from);
    if (anchor === '') return existsSync(join(built, target));
    return pages.get(target)?.includes(` id="${anchor}"`) === true;
  }

  function fileAt(path: string, from: string): string {
    const absolute = path.startsWith(base)
      ? path.slice(base.length)
      : posix.join(dirname(from), path);
    return absolute === '' || absolute.endsWith('/') ? `${absolute}index.html` : absolute;
  }
}

function linksIn(html: string): readonly string[] {
  return Array.from(html.matchAll(/\b(?:href|src)="([^"]+)"/g), ([, link = '']) => link).filter(
    (link) => !/^[a-z][a-z0-9+.-]*:/i.test(link),
  );
}
