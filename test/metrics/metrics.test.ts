import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { describe, expect, it, test } from 'vitest';
import project from '../../package.json' with { type: 'json' };
import { BUILD } from '../../src/system/build.ts';
import { REFUSALS } from '../../src/caller/gate.ts';
import { ERRORS } from '../../src/domain/errors.ts';
import { METRICS } from '../../src/telemetry/metricDefinitions.ts';
import { TestIssuer } from '../caller/testIssuer.ts';
import { entryAt, startServiceOf } from '../support/operatorsFile.ts';
import { freshStateKey, NO_REDIS, startRedis } from '../support/redisServer.ts';
import { startService, startSimulated } from '../support/service.ts';
import { pend, WiredOperator } from '../support/wiredOperator.ts';
import { metricsOf, metricsUrlOf, scrape, sumOf } from './scrape.ts';

const COUNTED = { METRICS_PORT: '0' };

/** The status of a request with this host. */
async function statusUnder(host: string, port: number): Promise<number | undefined> {
  const asked = request({ host: '127.0.0.1', port, path: '/metrics', headers: { host } }).end();
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

const ASK = 'query ($n: [ID!]!) { phoneNumbers(e164s: $n) { lastSimSwap simSwappedWithin } }';

describe('answers and requests', () => {
  it('are counted by their result, and a repeated question as one', async () => {
    await using service = await startSimulated({ ...COUNTED, OPERATOR_RETRY_LOOKUPS: 'true' });
    await service.ask('{ phoneNumber(e164: "+447700900001") { a: lastSimSwap b: lastSimSwap } }');
    // The operator answers 503: the lookup leaves twice.
    await service.ask('{ phoneNumber(e164: "+447700900013") { lastSimSwap } }');
    await service.ask('{ phoneNumber(e164: "none") { lastSimSwap } }');
    await service.ask('{ nothing }');
    const values = await scrape(service);
    expect(sumOf(values, METRICS.answers.name, /outcome="answered"/)).toBe(2);
    expect(sumOf(values, METRICS.repeatedQuestions.name)).toBe(1);
    expect(sumOf(values, METRICS.lookups.name, /outcome="answered"/)).toBe(1);
    expect(sumOf(values, METRICS.lookups.name, /outcome="OPERATOR_UNAVAILABLE"/)).toBe(1);
    expect(sumOf(values, METRICS.lookupAttempts.name)).toBe(3);
    expect(sumOf(values, METRICS.requests.name, /code="ok"/)).toBe(1);
    expect(sumOf(values, METRICS.requests.name, /code="BAD_USER_INPUT"/)).toBe(1);
    expect(sumOf(values, METRICS.requests.name, /code="GRAPHQL_VALIDATION_FAILED"/)).toBe(1);
  });

  it('are counted where the operator is not called, and refused callers by the reason', async () => {
    const issuer = await TestIssuer.start();
    await using service = await startSimulated({
      ...COUNTED,
      ...issuer.settings,
      AUDIT_LOG: '/dev/null',
      AUDIT_KEY: 'a-key-of-at-least-thirty-two-characters',
    });
    const risk = { authorization: `Bearer ${await issuer.token({ scope: 'sim-swap:read' })}` };
    const person = { authorization: `Bearer ${await issuer.token()}` };
    await service.ask(ASK, { n: ['+447700900001'] }, person);
    await service.ask('{ myPhoneNumber { lastSimSwap } }', {}, risk);
    await service.ask('{ phoneNumber(e164: "07700 900001") { lastSimSwap } }', {}, risk);
    const WINDOW = 'simSwappedWithin(maxAgeHours: 99999)';
    await service.ask(`{ phoneNumber(e164: "+447700900001") { ${WINDOW} } }`, {}, risk);
    await service.ask(ASK, { n: [] });
    await service.ask(ASK, { n: [] }, { authorization: 'Bearer forged' });
    await service.ask(ASK, { n: [] }, { ...risk, 'x-purpose': 'none of these' });
    const values = await scrape(service);
    await issuer.close();
    expect(sumOf(values, METRICS.answers.name, /outcome="FORBIDDEN"/)).toBe(3);
    expect(sumOf(values, METRICS.answers.name, /outcome="BAD_USER_INPUT"/)).toBe(2);
    expect(sumOf(values, METRICS.answers.name)).toBe(5);
    const refused = ['no-token', 'invalid-token', 'no-such-purpose', 'no-keys'].map((reason) =>
      sumOf(values, METRICS.refusedCallers.name, new RegExp(`"${reason}"`)),
    );
    expect(refused).toEqual([1, 1, 1, 0]);
  });

  it('have no label that a caller writes', async () => {
    await using service = await startSimulated(COUNTED);
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
    const own = text.split('\n').filter((line) => line.startsWith('sim_swap_'));
    // The figures of the process may hold these digits by chance.
    expect(own.join('\n')).not.toMatch(/7700|900500/);
    expect(own.length).toBeLessThan(200);
  });
});

test('from the start each metric is described, those of alerts are 0, and one names the build', async () => {
  const docs = 'https://git.example/docs';
  const settings = { ...COUNTED, OPERATOR_FLOW: '3-legged', DOCS_URL: `${docs}/` };
  await using service = await startSimulated(settings);
  const text = await metricsOf(service);
  for (const metric of Object.values(METRICS)) {
    const scalar = metric.name.endsWith('_total') ? 'counter' : 'gauge';
    expect(text).toContain(
      `# TYPE ${metric.name} ${metric.buckets === undefined ? scalar : 'histogram'}`,
    );
  }
  const series = [...(await scrape(service))];
  // Of the process, by the names that Prometheus' clients give them.
  const { cpuSeconds, residentBytes, heapUsedBytes, startSeconds, ...ofProcess } = METRICS;
  const { openDescriptors, maxDescriptors, maxDelaySeconds, p99DelaySeconds } = ofProcess;
  const delays = [maxDelaySeconds, p99DelaySeconds];
  const usage = [cpuSeconds, residentBytes, heapUsedBytes, startSeconds, openDescriptors];
  for (const { name } of [...usage, maxDescriptors, ...delays]) {
    const least = name.includes('_lag_') ? 0 : Number.MIN_VALUE;
    expect([name, series.find(([key]) => key === name)?.[1]]).toEqual([
      name,
      expect.toSatisfy((value: number) => value >= least),
    ]);
  }
  const [, started = 0] = series.find(([key]) => key === startSeconds.name) ?? [];
  expect(Math.abs(started + process.uptime() - Date.now() / 1000)).toBeLessThan(60);
  const build = `version="${project.version}",commit="${BUILD.commit}",docs="${docs}"`;
  expect(series).toContainEqual([`${METRICS.build.name}{${build}}`, 1]);
  const of = (name: string) => series.filter(([key]) => key.startsWith(`${name}{`));
  expect(of(METRICS.circuitOpen.name)).toHaveLength(4);
  expect(of(METRICS.refusedCallers.name)).toHaveLength(Object.keys(REFUSALS).length);
  expect(of(METRICS.answers.name)).toHaveLength(1 + Object.keys(ERRORS).length);
  const { circuitOpen, refusedCallers, answers, lookups, lookupAttempts, ...others } = METRICS;
  const { prompts, consentsWaiting, storeFailures, spans } = others;
  const waited = [circuitOpen, refusedCallers, answers, lookups, lookupAttempts];
  for (const { name } of [...waited, prompts, consentsWaiting, storeFailures, spans]) {
    expect(of(name)).not.toEqual([]);
    expect(of(name).filter(([, value]) => value !== 0)).toEqual([]);
  }
});

test('work under way and work that waits are read at each scrape', async () => {
  const held: (() => void)[] = [];
  await using operator = await WiredOperator.start({
    lookUp: (_received, response) => held.push(() => response.destroy()),
  });
  const entry = entryAt(operator.url, { limits: { connections: 2 } });
  await using service = await startServiceOf([entry], COUNTED);
  const n = ['+447700900001', '+447700900002', '+447700900003'];
  const asked = service.ask(ASK, { n });
  await expect.poll(() => held.length).toBe(2);
  const values = await scrape(service);
  expect(sumOf(values, METRICS.workUnderWay.name, /work="retrieve-date"/)).toBe(2);
  expect(sumOf(values, METRICS.workWaiting.name, /work="retrieve-date"/)).toBe(1);
  expect(sumOf(values, METRICS.workUnderWay.name, /work="check"/)).toBe(0);
  expect(sumOf(values, METRICS.numbers.name, /kind="at-work"/)).toBe(3);
  expect(sumOf(values, METRICS.numberPlaces.name, /kind="at-work"/)).toBeGreaterThan(100);
  for (const end of held) end();
  await expect.poll(() => held.length).toBe(3);
  for (const end of held) end();
  await asked;
  await expect.poll(async () => sumOf(await scrape(service), METRICS.workUnderWay.name)).toBe(0);
  expect(sumOf(await scrape(service), METRICS.numbers.name)).toBe(0);
});

describe('/metrics', () => {
  it('is only on its own port, and not for a page of another site whose name leads to this machine', async () => {
    await using service = await startSimulated(COUNTED);
    const { port } = new URL(metricsUrlOf(service));
    const statuses = await Promise.all(
      ['127.0.0.1', 'localhost:9090', 'rebound.example', '127.0.0.1.evil.example'].map((host) =>
        statusUnder(host, Number(port)),
      ),
    );
    expect(statuses).toEqual([200, 200, 421, 421]);
    // A proxy may pass on the paths of the service to anyone.
    expect((await service.send('/metrics')).status).toBe(404);
  });

  it('makes one text a second, however often it is scraped', async () => {
    await using service = await startSimulated(COUNTED);
    const beganAtMs = performance.now();
    const texts = new Set([await metricsOf(service)]);
    await service.ask('{ phoneNumber(e164: "+447700900001") { lastSimSwap } }');
    for (let times = 0; times < 200; times += 1) texts.add(await metricsOf(service));
    expect(texts.size).toBeLessThanOrEqual(2 + (performance.now() - beganAtMs) / 1000);
    await expect
      .poll(async () => sumOf(await scrape(service), METRICS.answers.name, /"answered"/))
      .toBe(1);
  });
});

describe('a gauge', () => {
  test('has the requests that wait for owners, without those that hung up', async () => {
    await using operator = await WiredOperator.start({ token: pend });
    await using service = await startService(operator.url, {
      ...COUNTED,
      OPERATOR_FLOW: '3-legged',
      CONSENT_WAIT_MS: '20000',
    });
    const waiting = async (): Promise<number | undefined> =>
      (await scrape(service)).get(`${METRICS.consentsWaiting.name}{operator="operator"}`);
    expect(await waiting()).toBe(0);
    const hangingUp = new AbortController();
    const numbers = { n: ['+447700900004'] };
    const asked = service.ask(ASK, numbers, {}, hangingUp.signal).catch(() => undefined);
    await expect.poll(waiting).toBeGreaterThan(0);
    hangingUp.abort();
    await asked;
    await expect.poll(waiting).toBe(0);
  });

  test.skipIf(NO_REDIS !== undefined)('has how long a Redis has been away', async () => {
    await using stack = new AsyncDisposableStack();
    const redis = await startRedis();
    stack.defer(() => redis.kill());
    await using service = await startSimulated({
      ...COUNTED,
      REDIS_URL: redis.url,
      STATE_KEY: freshStateKey(),
    });
    const awaySeconds = async (): Promise<number> =>
      (await scrape(service)).get(METRICS.storeAwaySeconds.name) ?? Number.NaN;
    expect(await awaySeconds()).toBe(0);
    await redis.kill();
    await expect.poll(awaySeconds).toBeGreaterThan(0);
    const earlier = await awaySeconds();
    await expect.poll(awaySeconds).toBeGreaterThan(earlier);
    const again = await startRedis(redis.port);
    stack.defer(() => again.kill());
    await expect.poll(awaySeconds).toBe(0);
  });
});
