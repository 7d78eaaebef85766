import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { describe, expect, it, test } from 'vitest';
import { METRICS } from '../../src/metrics/definitions.ts';
import { freePort } from '../freePort.ts';
import { startService, startSimulated, type Service } from '../service.ts';
import { answerNever, WiredOperator } from '../wiredOperator.ts';

async function metricsOf({ url }: Service): Promise<string> {
  const response = await fetch(`${url}/metrics`);
  expect(response.status).toBe(200);
  return response.text();
}

/** The values of all metrics, by name and labels as Prometheus reads them. */
async function scrape(service: Service): Promise<ReadonlyMap<string, number>> {
  const text = await metricsOf(service);
  return new Map(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => {
        const space = line.lastIndexOf(' ');
        return [line.slice(0, space), Number(line.slice(space + 1))] as const;
      }),
  );
}

function sumOf(values: ReadonlyMap<string, number>, name: string, labels: RegExp = /^/): number {
  return [...values]
    .filter(([key]) => key.split('{', 1)[0] === name && labels.test(key))
    .reduce((sum, [, value]) => sum + value, 0);
}

async function metricsPort(): Promise<Readonly<Record<string, string>>> {
  const port = String(await freePort());
  return { PORT: port, METRICS_PORT: port };
}

/** What is said to a request under the name of this host. */
async function statusUnder(host: string, port: number): Promise<number | undefined> {
  const asked = request({ host: '127.0.0.1', port, path: '/metrics', headers: { host } }).end();
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

const ASK = 'query ($n: [ID!]!) { phoneNumbers(e164s: $n) { lastSimSwap simSwappedWithin } }';

describe('the bill', () => {
  it.each(['2-legged', '3-legged'] as const)('is what the operator counted: %s', async (flow) => {
    await using service = await startSimulated({
      ...(await metricsPort()),
      OPERATOR_FLOW: flow,
      OPERATOR_PRICE_CHECK: '0.5',
      OPERATOR_PRICE_RETRIEVE_DATE: '0.25',
      OPERATOR_PRICE_CURRENCY: 'EUR',
    });
    const numbers = ['+447700900001', '+447700900500', '+447700900501', '+447700900003'];
    await service.ask(ASK, { n: numbers });
    await service.ask(ASK, { n: numbers });

    const values = await scrape(service);
    const { check, retrieveDate, prompts } = service.stats();
    const attempts = METRICS.lookupAttempts.name;
    expect(check + retrieveDate).toBeGreaterThan(0);
    expect(sumOf(values, attempts, /operation="check"/)).toBe(check);
    expect(sumOf(values, attempts, /operation="retrieve-date"/)).toBe(retrieveDate);
    expect(sumOf(values, METRICS.lookupPrice.name, /currency="EUR"/)).toBe(
      check * 0.5 + retrieveDate * 0.25,
    );
    expect(sumOf(values, METRICS.prompts.name)).toBe(prompts);
  });

  test('counts each attempt of a lookup that fails, and none of one that never left', async () => {
    await using operator = await WiredOperator.start({
      lookUp: (received, response) => {
        if (received.body.includes('900001')) response.destroy();
        else answerNever(received, response);
      },
    });
    await using service = await startService(operator.url, await metricsPort());
    await service.ask(ASK, { n: ['+447700900001', '+447700900002'] });
    const values = await scrape(service);
    expect(sumOf(values, METRICS.lookupAttempts.name)).toBe(operator.lookups.length);
    expect(sumOf(values, METRICS.lookups.name, /outcome="OPERATOR_UNAVAILABLE"/)).toBe(1);
  });
});

describe('answers and requests', () => {
  it('are counted by what they came to, and what was asked twice by that', async () => {
    await using service = await startSimulated(await metricsPort());
    await service.ask('{ phoneNumber(e164: "+447700900001") { a: lastSimSwap b: lastSimSwap } }');
    await service.ask('{ phoneNumber(e164: "none") { lastSimSwap } }');
    await service.ask('{ nothing }');
    const values = await scrape(service);
    expect(sumOf(values, METRICS.answers.name, /outcome="answered"/)).toBe(2);
    expect(sumOf(values, METRICS.repeatedQuestions.name)).toBe(1);
    expect(sumOf(values, METRICS.lookups.name)).toBe(1);
    expect(sumOf(values, METRICS.requests.name, /code="ok"/)).toBe(1);
    expect(sumOf(values, METRICS.requests.name, /code="BAD_USER_INPUT"/)).toBe(1);
    expect(sumOf(values, METRICS.requests.name, /code="GRAPHQL_VALIDATION_FAILED"/)).toBe(1);
  });

  it('have no label that a caller writes', async () => {
    await using service = await startSimulated(await metricsPort());
    const mark = 'xyzzy';
    for (let index = 0; index < 50; index += 1) {
      await service.ask(
        `query ${mark}${index} { ${mark}: phoneNumber(e164: "+4477009005${index + 10}") { ${mark}${index}: lastSimSwap } }`,
        {},
        { 'x-correlator': `${mark}-${index}`, 'x-purpose': mark },
      );
    }
    const text = await metricsOf(service);
    expect(text).not.toContain(mark);
    expect(text).not.toMatch(/7700|900500/);
    const own = text.split('\n').filter((line) => line.startsWith('sim_swap_'));
    expect(own.length).toBeLessThan(200);
  });
});

describe('/metrics', () => {
  it.each(['the port of the service', 'a port of its own'])(
    'on %s is not for a page of another site whose name leads to this machine',
    async (where) => {
      const metrics = await freePort();
      const port = where === 'a port of its own' ? '0' : String(metrics);
      await using service = await startSimulated({
        PORT: port,
        METRICS_PORT: String(metrics),
        ALLOWED_HOSTS: 'prometheus.example',
      });
      expect(service.url).toContain('127.0.0.1');
      const statuses = await Promise.all(
        [
          '127.0.0.1',
          'localhost:9090',
          'prometheus.example',
          'rebound.example',
          '127.0.0.1.evil.example',
        ].map((host) => statusUnder(host, metrics)),
      );
      expect(statuses).toEqual([200, 200, 200, 421, 421]);
    },
  );

  it('is not there unless it is asked for', async () => {
    await using service = await startSimulated();
    expect((await service.send('/metrics')).status).toBe(404);
  });

  it('describes each metric', async () => {
    await using service = await startSimulated(await metricsPort());
    const text = await metricsOf(service);
    for (const { name, type } of Object.values(METRICS)) {
      expect(text).toContain(`# TYPE ${name} ${type}`);
    }
    expect(text).toContain('nodejs_eventloop_lag_seconds');
  });
});
