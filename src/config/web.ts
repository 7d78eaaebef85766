import type { EnvironmentReader } from './environment.ts';
import { MAX_DOCS_URL_CHARACTERS } from '../domain/errors.ts';
import { isLoopback } from '../http/loopback.ts';

/** Reads ALLOWED_ORIGINS: as browsers send them in `origin`. */
export function readAllowedOrigins(read: EnvironmentReader): readonly string[] {
  const name = 'ALLOWED_ORIGINS';
  const origins = read.list(name);
  for (const origin of origins) {
    const url = URL.parse(origin);
    if (url === null || url.origin !== origin || !/^https?:$/.test(url.protocol)) {
      read.problem(
        name,
        'must be origins such as https://app.example, without a path, with commas between',
      );
    } else if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
      read.problem(
        name,
        'must have origins that start with https://, unless they are on this machine',
      );
    }
  }
  return origins;
}

/** Reads DOCS_URL: it is bounded, since each error of a reply has it. */
export function readDocsUrl(read: EnvironmentReader): string | undefined {
  const url = read.url('DOCS_URL');
  if (url !== undefined && url.length > MAX_DOCS_URL_CHARACTERS) {
    read.problem('DOCS_URL', `must have ${MAX_DOCS_URL_CHARACTERS} characters at most`);
  }
  return url;
}
