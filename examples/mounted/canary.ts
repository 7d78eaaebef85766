/**
 * Writes a phone number wherever a client can, and fails where a reply quotes it: `node canary.ts http://…/graphql`.
 * Run it against your own server as well, with requests of your own beside these.
 */
const CANARY = '+447700900099';
const QUOTED = /7700.{0,3}900.{0,3}099/;

const about = (fields: string): string => `{ phoneNumber(e164: "${CANARY}") { ${fields} } }`;

const OPERATIONS: readonly object[] = [
  { query: `{ phoneNumber(e164: ${CANARY}) { simSwappedWithin } }` },
  { query: `{ phoneNumber(e164: "${CANARY}" ` },
  { query: about(`simSwappedWithin(maxAgeHours: "${CANARY}")`) },
  { query: about('simSwappedWithin(maxAgeHours: 447700900099)') },
  { query: about(`simSwappedWithin(hours: "${CANARY}")`) },
  { query: about('_447700900099') },
  { query: '{ phoneNumber(e164: "07700 900099") { simSwappedWithin } }' },
  {
    query:
      'query ($hours: Int!) { phoneNumber(e164: "+44") { simSwappedWithin(maxAgeHours: $hours) } }',
    variables: { hours: CANARY },
  },
  {
    query: 'query ($numbers: [ID!]!) { phoneNumbers(e164s: $numbers) { simSwappedWithin } }',
    variables: { numbers: [CANARY, null, { number: CANARY }] },
  },
  { query: 'query A { __typename }', operationName: CANARY },
  { query: CANARY },
  { query: 447_700_900_099 },
  { query: '{ __typename }', variables: CANARY },
  { query: '{ __typename }', extensions: CANARY },
  [{ query: CANARY }],
];

const bodies = [
  ...OPERATIONS.map((operation) => JSON.stringify(operation)),
  `{"query": ${CANARY}`,
  CANARY,
];

async function quotes(body: string, address: string): Promise<boolean> {
  const reply = await fetch(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  return QUOTED.test((await reply.text()) + JSON.stringify([...reply.headers]));
}

const [, , address = ''] = process.argv;
const failed = [];
for (const body of bodies) if (await quotes(body, address)) failed.push(body);
process.stdout.write(
  `${bodies.length - failed.length} of ${bodies.length} replies quote nothing\n`,
);
for (const body of failed) process.stderr.write(`The number is in the reply to ${body}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;
