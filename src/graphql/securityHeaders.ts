import type { ServerResponse } from 'node:http';

/**
 * What every response says to browsers, proxies and caches: nothing here is a page, and nothing may be
 * stored. No cookie is ever set. HSTS is left to the proxy that terminates TLS in front of the service.
 */
const SECURITY_HEADERS = new Map([
  ['cache-control', 'no-store'],
  ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
  ['cross-origin-resource-policy', 'same-origin'],
  ['referrer-policy', 'no-referrer'],
  ['x-content-type-options', 'nosniff'],
  ['x-frame-options', 'DENY'],
]);

/** Sets them, before anything else is known of the response. */
export function setSecurityHeaders(response: ServerResponse): void {
  response.setHeaders(SECURITY_HEADERS);
}
