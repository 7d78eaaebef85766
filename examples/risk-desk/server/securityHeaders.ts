/**
 * With every reply. The page loads its own scripts and styles and nothing else, sends what it knows to
 * only this server, and cannot be framed; no cache stores what it shows.
 */
export function securityHeaders(origin: string): ReadonlyMap<string, string> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ');
  return new Map([
    ['content-security-policy', policy],
    ['cross-origin-opener-policy', 'same-origin'],
    ['cross-origin-resource-policy', 'same-origin'],
    ['permissions-policy', 'camera=(), geolocation=(), microphone=(), payment=(), usb=()'],
    ['referrer-policy', 'no-referrer'],
    ['x-content-type-options', 'nosniff'],
    ['x-frame-options', 'DENY'],
    ['cache-control', 'no-store'],
    ...(origin.startsWith('https:')
      ? ([['strict-transport-security', 'max-age=31536000']] as const)
      : []),
  ]);
}
