import { isLoopback } from './loopback.ts';

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
