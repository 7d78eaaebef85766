/** A customer as this service stores one. */
export interface Customer {
  readonly id: string;
  readonly name: string;
  readonly e164: string;
}

/** Their numbers are test numbers of the simulator. */
export const CUSTOMERS: readonly Customer[] = [
  { id: '1', name: 'Ada, who got a new SIM three days ago', e164: '+447700900002' },
  { id: '2', name: 'Grace, who has had hers for ten years', e164: '+447700900004' },
  { id: '3', name: 'Linus, whom the operator does not know', e164: '+447700900010' },
];
