import type { Role } from '../server/sessions.ts';

/** A person who works at the desk of the demo. */
export interface DemoPerson {
  readonly login: string;
  readonly password: string;
  readonly name: string;
  /** Their role, shown where the demo offers a choice. */
  readonly does: string;
  readonly roles: readonly Role[];
  /** Scopes of the service that the provider grants. */
  readonly scopes: readonly string[];
}

export const READ_SCOPE = 'sim-swap:read';
export const BATCH_SCOPE = 'sim-swap:batch';

/** Their passwords are not secret: the demo shows them, and answers on loopback only. */
export const PEOPLE = {
  analyst: {
    login: 'ana',
    password: 'one-case-at-a-time',
    name: 'Ana Lyst',
    does: 'checks one number at a time',
    roles: ['analyst'],
    scopes: [READ_SCOPE],
  },
  lead: {
    login: 'lea',
    password: 'ten-thousand-cases',
    name: 'Lea Der',
    does: 'checks lists as well',
    roles: ['analyst', 'lead'],
    scopes: [READ_SCOPE, BATCH_SCOPE],
  },
} as const satisfies Readonly<Record<string, DemoPerson>>;

/** All of them. */
export const EVERYONE: readonly DemoPerson[] = Object.values(PEOPLE);

/** As whom the provider knows the desk. */
export const CLIENT_ID = 'risk-desk';
