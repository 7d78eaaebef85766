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

const FIRST_NAMES =
  'Amal Bo Chidi Dana Elif Farid Gita Hana Ivo Jun Kofi Lena Mina Nils Omar Pia Quinn Rosa Sami Tove'.split(
    ' ',
  );
const LAST_NAMES =
  'Abara Berg Costa Diaz Eriksen Fofana Gruber Haddad Ivanova Joshi Kimura Lopez Moreau Novak Okafor Patel Rossi Silva Tanaka Weber'.split(
    ' ',
  );

/** The whole portfolio of the demo, by number: a customer for each line that the simulator has. */
const BY_NUMBER: ReadonlyMap<string, Customer> = new Map(
  [...CUSTOMERS, ...others()].map((customer) => [customer.e164, customer]),
);
const BY_ID: ReadonlyMap<string, Customer> = new Map(
  [...BY_NUMBER.values()].map((customer) => [customer.id, customer]),
);

/** The customer of this id. */
export function customerOfId(id: string): Customer | undefined {
  return BY_ID.get(id);
}

/** The customer whose number this is, written with `+`, country code and only digits. */
export function customerOfNumber(e164: string): Customer | undefined {
  return BY_NUMBER.get(e164);
}

function others(): readonly Customer[] {
  const taken = new Set(CUSTOMERS.map(({ e164 }) => e164));
  return [...ranges()]
    .filter((e164) => !taken.has(e164))
    .map((e164, place) => ({ id: String(1000 + place), name: nameAt(place), e164 }));
}

/** +44 7700 900xxx, and +1 2nn 555 01dd: reserved for fiction, and lines of the simulator. */
function* ranges(): Generator<string> {
  for (let line = 0; line < 1000; line += 1) yield `+447700900${String(line).padStart(3, '0')}`;
  for (let line = 0; line < 10_000; line += 1) {
    const digits = String(line).padStart(4, '0');
    yield `+12${digits.slice(0, 2)}55501${digits.slice(2)}`;
  }
}

function nameAt(place: number): string {
  const first = FIRST_NAMES[place % FIRST_NAMES.length];
  const last = LAST_NAMES[Math.floor(place / FIRST_NAMES.length) % LAST_NAMES.length];
  return `${first} ${last}`;
}
