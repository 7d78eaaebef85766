/**
 * What a server does when its memory is full, as INFO has it: `noeviction`, or how it chooses what to forget. INFO is
 * allowed where CONFIG is not, as a rule.
 *
 * @param info the reply to INFO memory
 */
export function evictionPolicyOf(info: unknown): string | undefined {
  return /^maxmemory_policy:([a-z-]{1,40})\s*$/m.exec(String(info))?.[1];
}
