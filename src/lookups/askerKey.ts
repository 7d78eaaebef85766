import { hash } from 'node:crypto';
import type { Asker } from '../domain/asker.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';

/** Names what one asker asks about one number. Of one length, however long a caller's name is. */
export function askerKey({ caller, purpose }: Asker, number: PhoneNumber): string {
  return hash('sha256', JSON.stringify([number, caller.key, purpose]), 'base64url');
}
