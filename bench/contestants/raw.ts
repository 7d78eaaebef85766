import { setTimeout as sleep } from 'node:timers/promises';
import { compete, operatorAddress } from '../processes/competing.ts';
import type { RawConnections } from './contestant.ts';
import { DispatchedLookups, type Lookup } from './dispatched.ts';
import type { RawOrder, RawResult } from './rawOrder.ts';

// The limit: no query, just the exchanges that one takes.

const connections = process.argv[4] as RawConnections;
const lookups = new DispatchedLookups(operatorAddress(), connections);

compete({ run });

async function run(order: RawOrder): Promise<RawResult> {
  const latenciesMs: number[] = [];
  let left = order.batches;
  const client = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const startedMs = performance.now();
      await batch(order);
      latenciesMs.push(performance.now() - startedMs);
      if (order.pauseMs > 0) await sleep(order.pauseMs);
    }
  };
  await Promise.all(Array.from({ length: order.concurrency }, client));
  return { latenciesMs };
}

async function batch({ numbers, operation, lookups: perNumber }: RawOrder): Promise<void> {
  const asked = numbers.flatMap((phoneNumber): Lookup[] => {
    const body = operation === 'check' ? { phoneNumber, maxAge: 240 } : { phoneNumber };
    return Array.from({ length: perNumber }, () => ({ operation, body }));
  });
  const answers = await lookups.all(asked);
  const member = operation === 'check' ? 'swapped' : 'latestSimChange';
  if (answers.some((answer) => answer[member] === undefined)) throw new Error('no answer');
}
