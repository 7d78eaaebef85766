import { createHmac } from 'node:crypto';

/**
 * What stands for a number or a person in the audit log: HMAC-SHA256 under the audit key, in hex. There
 * are so few numbers that a hash without a key could be turned back by trying them all.
 *
 * Characters that look alike and mean the same hash alike (Unicode's NFKC).
 */
export function auditHash(key: string, text: string): string {
  return createHmac('sha256', key).update(text.normalize('NFKC')).digest('hex');
}
