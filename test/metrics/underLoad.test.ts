import { expect, it } from 'vitest';
import { METRICS } from '../../src/telemetry/metricDefinitions.ts';
import { startSimulator, type Simulator } from '../../simulator/simulator.ts';
import { TEST_NUMBERS } from '../../simulator/testNumbers.ts';
import { filledIn, PROFILE_SECRETS } from '../../scripts/simulatedProfiles.ts';
import { inForm } from '../support/forms.ts';
import { startServiceOf } from '../support/operatorsFile.ts';
import { Random } from '../support/random.ts';
import type { GraphqlReply, Service } from '../support/service.ts';
import { scrape, sumOf, type Scraped } from './scrape.ts';

/** Two flows, and three rules for tokens: each number's own, one for each lookup, one for all. */
const OPERATORS = ['vodafone', 'claro', 'aggregator'] as const;
type Operator = (typeof OPERATORS)[number];

/** Binary fractions, so that the sum is exact. */
const PRICE = { 'retrieve-date': '0.25', check: '0.5', currency: 'EUR' };

const REQUESTS = inForm({ short: 60, long: 1000 });
const CLIENTS = 12;
const NUMBERS_EACH = 8;

const FIELDS = [
  'lastSimSwap',
  'simSwappedWithin(maxAgeHours: 24)',
  'lastSimSwap a: simSwappedWithin(maxAgeHours: 24) b: simSwappedWithin(maxAgeHours: 240)',
  'simSwappedWithin(maxAgeHours: 48) again: simSwappedWithin(maxAgeHours: 48)',
] as const;

/** Every test number, and so every fault, divided among the operators. */
const NUMBERS: readonly { readonly number: string; readonly operator: Operator }[] =
  TEST_NUMBERS.map(({ number }, index) => ({
    number,
    operator: OPERATORS[index % OPERATORS.length] ?? 'claro',
  }));

/** What clients have read in their replies. */
class Read {
  requests = 0;
  fields = 0;
  readonly codes = new Map<string, number>();

  add({ data, errors = [] }: GraphqlReply): void {
    this.requests += 1;
    const numbers = (data as { phoneNumbers: Record<string, unknown>[] }).phoneNumbers;
    this.fields += numbers.reduce((sum, fields) => sum + Object.keys(fields).length, 0);
    for (const { extensions } of errors) {
      const code = extensions?.code ?? 'no code';
      this.codes.set(code, (this.codes.get(code) ?? 0) + 1);
    }
  }
}

async function load(service: Service, random: Random): Promise<Read> {
  const read = new Read();
  let left = REQUESTS;
  const client = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const n = Array.from(
        { length: NUMBERS_EACH },
        () => NUMBERS[random.below(NUMBERS.length)]?.number,
      );
      const query = `query ($n: [ID!]!) { phoneNumbers(e164s: $n) { ${random.pick(FIELDS)} } }`;
      const { body } = await service.ask(query, { n: [...new Set(n)] });
      read.add(body);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return read;
}

/** Once no exchange is under way: a consent outlives the request that began it. */
async function settledScrape(service: Service): Promise<Scraped> {
  let values = await scrape(service);
  await expect
    .poll(
      async () => {
        values = await scrape(service);
        return sumOf(values, METRICS.workUnderWay.name) + sumOf(values, METRICS.workWaiting.name);
      },
      { timeout: 20_000 },
    )
    .toBe(0);
  return values;
}

it(
  'counters equal what the simulators counted, to the unit, over all faults, both flows and three operators',
  async () => {
    const simulators = new Map<Operator, Simulator>();
    for (const dialect of OPERATORS) {
      simulators.set(dialect, await startSimulator({ port: 0, dialect }));
    }
    const entries = Array.from(simulators, ([operator, simulator]) => ({
      ...filledIn(operator, simulator),
      prefixes: [
        ...NUMBERS.filter((one) => one.operator === operator).map(({ number }) => number),
        ...(operator === 'claro' ? ['default'] : []),
      ],
      price: PRICE,
    }));
    const service = await startServiceOf(entries, {
      ...PROFILE_SECRETS,
      METRICS_PORT: '0',
      CONSENT_WAIT_MS: '300',
      CONSENT_DENIED_SECONDS: '1',
      CONSENT_FAILURE_SECONDS: '1',
      CONSENT_DOUBT_SECONDS: '1',
      REQUEST_TIMEOUT_MS: '20000',
    });
    try {
      const read = await load(service, new Random(19));
      const values = await settledScrape(service);
      expect(sumOf(values, `${METRICS.gcSeconds.name}_count`)).toBeGreaterThan(0);

      for (const [operator, simulator] of simulators) {
        const counted = simulator.stats();
        const of = (name: string, labels = ''): number =>
          sumOf(values, name, new RegExp(`operator="${operator}".*${labels}`));
        expect({
          operator,
          requests: of(`${METRICS.exchangeSeconds.name}_count`),
          tokens: of(METRICS.tokens.name, 'outcome="issued"'),
          lookups: of(METRICS.lookupAttempts.name),
          polls: of(`${METRICS.exchangeSeconds.name}_count`, 'endpoint="CIBA token"'),
          // One that is refused, or fails with a 5xx, reaches no owner.
          prompts: of(METRICS.prompts.name, 'outcome="asked"'),
        }).toEqual({
          operator,
          requests: counted.requests,
          tokens: counted.tokens,
          lookups: counted.lookups + counted.refusedLookups,
          polls: counted.polls,
          prompts: counted.prompts,
        });
        const attempts = (operation: string): number =>
          of(METRICS.lookupAttempts.name, `operation="${operation}"`);
        expect(of(METRICS.lookupPrice.name)).toBe(
          attempts('retrieve-date') * 0.25 + attempts('check') * 0.5,
        );
        expect(counted.lookups).toBeGreaterThan(5);
        expect(counted.refusedLookups).toBeGreaterThan(0);
      }

      expect(sumOf(values, METRICS.requests.name)).toBe(read.requests);
      expect(sumOf(values, METRICS.answers.name)).toBe(read.fields);
      for (const [code, count] of read.codes) {
        expect(sumOf(values, METRICS.answers.name, new RegExp(`"${code}"`))).toBe(count);
      }
      const failed = [...read.codes.values()].reduce((sum, count) => sum + count, 0);
      expect(sumOf(values, METRICS.answers.name, /"answered"/)).toBe(read.fields - failed);
      // Many kinds of faults.
      expect(read.codes.size).toBeGreaterThan(5);
    } finally {
      await service.stop();
      await Promise.all(Array.from(simulators.values(), (simulator) => simulator.close()));
    }
  },
  inForm({ short: 60_000, long: 600_000 }),
);
