import { EchoPolicy } from '../../src/http/echo.ts';
import { decideRetry } from '../../src/http/resilience/retries.ts';
import { judgeLookup } from '../../src/operator/responses.ts';
import type { Judges } from '../../src/simSwaps/operatorEndpoints.ts';

/** What can be taken away, to see what it is good for. */
export const GUARDS = [
  'correlator-check',
  'fresh-connections',
  'strict-types',
  'date-checks',
  'date-margin',
  'doubt-rule',
  'time-limit',
  'fact-age',
] as const;

export type Guard = (typeof GUARDS)[number];

/** The judges that serve, with one of them asleep. */
export function judgesWithout(guard: Guard | undefined): Judges {
  return {
    echo: ({ echo, header }, silent, clock) => {
      if (guard === 'correlator-check') {
        return {
          needsFreshConnection: false,
          originOf: () => 'proven',
          distrust: () => undefined,
        };
      }
      const policy = new EchoPolicy(echo, silent, clock, header);
      return guard === 'fresh-connections'
        ? {
            needsFreshConnection: false,
            originOf: (...head) => policy.originOf(...head),
            distrust: () => undefined,
          }
        : policy;
    },
    retry: (finished, rules) => {
      // A token that is sent twice is refused, and after a refusal no owner is prompted for a minute.
      const isSpent = finished.kind === 'lookup' && !rules.canTakeNewToken;
      const isRepeated =
        finished.kind !== 'token-poll' && !isSpent && finished.exchange.kind === 'fault';
      return guard === 'doubt-rule' && isRepeated
        ? { retry: 'same', atLeastMs: 0 }
        : decideRetry(finished, rules);
    },
    lookup: (reply, exchange, lookup) => {
      const disabled = lookup.operation === 'check' ? 'strict-types' : 'date-checks';
      if (guard !== disabled || reply.status !== 200) return judgeLookup(reply, exchange, lookup);
      if (lookup.operation === 'check') {
        const swapped = /"swapped":\s*"?true/.test(reply.body);
        return { kind: 'answered', facts: [{ ...lookup, swapped, sentAtMs: exchange.sentAtMs }] };
      }
      const text = /"latestSimChange":\s*"([^"]*)"/.exec(reply.body)?.[1];
      const epochMs = Date.parse(text ?? '');
      const latestSimChange =
        text === undefined || Number.isNaN(epochMs) ? null : { text, epochMs };
      return {
        kind: 'answered',
        facts: [{ operation: 'retrieve-date', latestSimChange, sentAtMs: exchange.sentAtMs }],
      };
    },
  };
}
