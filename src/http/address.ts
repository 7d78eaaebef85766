/**
 * Why a text is no address to send requests to, as the end of a sentence; `undefined` where it is one: https,
 * without credentials, query and fragment. On loopback it may be http, since the traffic does not leave the
 * machine. Pure.
 */
export function addressProblem(text: string): AddressProblem | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return { what: 'must be an address that starts with http:// or https://', isQuotable: true };
  }
  if (url.username !== '' || url.password !== '' || /[?#]/.test(text)) {
    const what = 'must be an address without user, password, query and fragment';
    return { what, isQuotable: false };
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    return {
      what: 'must be an address that starts with https://, as it is not on this machine',
      isQuotable: true,
    };
  }
  return undefined;
}

/** What is wrong with an address, and whether the address may stand beside it. */
export interface AddressProblem {
  readonly what: string;
  readonly isQuotable: boolean;
}

/** The address without a slash at its end. Pure. */
export function withoutLastSlash(address: string): string {
  return new URL(address).href.replace(/\/+$/, '');
}

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
