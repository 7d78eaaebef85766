/** Somebody who holds a phone, and what the operator does with their number: the test numbers of the simulator. */
export interface Person {
  readonly subject: string;
  /** With `+` and country code. */
  readonly phoneNumber: string;
  readonly does: string;
}

export const PEOPLE: readonly Person[] = [
  {
    subject: 'alice',
    phoneNumber: '+447700900050',
    does: 'agrees after 2 s; same SIM card for ten years',
  },
  { subject: 'bob', phoneNumber: '+447700900052', does: 'declines' },
  {
    subject: 'carol',
    phoneNumber: '+447700900001',
    does: 'agrees at once; SIM card changed 2 hours ago',
  },
  { subject: 'dave', phoneNumber: '+447700900010', does: 'is not known to the operator' },
];

/** In the page there is time to wait as well. */
export const PEOPLE_OF_PAGE: readonly Person[] = [
  ...PEOPLE,
  {
    subject: 'erin',
    phoneNumber: '+447700900055',
    does: 'does not respond; the prompt expires after 6 s',
  },
];
