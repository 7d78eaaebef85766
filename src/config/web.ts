import type { EnvironmentReader } from './environment.ts';
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
