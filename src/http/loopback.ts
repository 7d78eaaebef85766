/** Whether a host is this machine alone, whatever the resolver says. */
export function isLoopback(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/i.test(host);
}

/** RFC 9110 §7.2: a host, and a port that does not matter here. No user, and nothing else that a URL has. */
const HOST = /^(?<name>\[[\da-f:.]+\]|[\w.-]+)(?::\d*)?$/i;

/** Whether a header `host` names this machine by a name of its own. Pure. */
export function isOwnHost(header: string | undefined): boolean {
  const host = HOST.exec(header ?? '')?.groups?.['name']?.toLowerCase();
  return host !== undefined && isLoopback(host);
}
