import { isLoopback } from './loopback.ts';

/** Whether a header `host` names this machine by a name of its own, or one of the names that are listed. */
export function allowsHost(header: string | undefined, listed: readonly string[]): boolean {
  const host = URL.parse(`http://${header ?? ''}`)?.hostname;
  return host !== undefined && (isLoopback(host) || listed.includes(host));
}
