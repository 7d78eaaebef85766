import { createHmac } from 'node:crypto';
import type { PhoneNumber } from '../../domain/phoneNumber.ts';

/**
 * A number's name in the audit trail: HMAC-SHA256 under the audit key, in hex. There are so few numbers
 * that a hash without a key could be turned back by trying them all.
 */
export function hashNumber(key: string, number: PhoneNumber): string {
  return createHmac('sha256', key).update(number).digest('hex');
}
