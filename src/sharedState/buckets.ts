import { createHmac } from 'node:crypto';
import type { PhoneNumber } from '../domain/phoneNumber.ts';

/**
 * Into how many buckets keys are sorted. Changed, nothing that lies in Redis is found again: enough for some twenty
 * masters to have about as many each.
 */
export const BUCKETS = 256;

const PREFIX = 'sim-swap';

/**
 * The bucket of what is kept about one thing, such as a number. What has one bucket lies in one slot of a Redis Cluster
 * and so on one master: one script may change it, and it is lost together with the memory key that tells of the loss.
 *
 * It does not depend on STATE_KEY, so that both names of a thing lie side by side while the key is changed.
 *
 * @param scope whose things these are, such as an operator's identity
 */
export function bucketOf(scope: string, thing: string): number {
  return createHmac('sha256', scope).update(thing).digest().readUInt8(0) % BUCKETS;
}

/** The bucket of what is kept about a phone number, whichever operator it lives at. */
export function bucketOfNumber(number: PhoneNumber): number {
  return bucketOf('number', number);
}

/** A key of a bucket, whose number is the hash tag. */
export function keyIn(
  bucket: number,
  kind: 'consent-2' | 'memory-2' | 'facts-2' | 'counts' | 'refusals' | 'memory',
  name: string,
): string {
  return `${PREFIX}:{${bucket}}:${kind}:${name}`;
}
