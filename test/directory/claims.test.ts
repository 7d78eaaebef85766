import { readFileSync } from 'node:fs';
import { afterAll, expect, it } from 'vitest';
import { TestIssuer } from '../caller/testIssuer.ts';
import { line } from '../endToEnd/askedSimSwaps.ts';
import { inForm } from '../support/forms.ts';
import { RecordingServer, type Answer } from '../wire/recordingServer.ts';
import { entryAt, startServiceOf } from '../support/operatorsFile.ts';
import { Random } from '../support/random.ts';
import { TemporaryFiles } from '../support/temporary.ts';
import { replying, WiredOperator } from '../support/wiredOperator.ts';

const NUMBERS = 10;
const issuer = await TestIssuer.start();
afterAll(() => issuer.close());
const files = new TemporaryFiles();

/** Every third number is nobody's. */
const byNumber: Answer = (received, response) => {
  const { phoneNumber } = JSON.parse(received.body) as { phoneNumber: string };
  const operator = Number(phoneNumber.slice(-1)) % 3 === 0 ? null : 'alpha';
  replying({ operator })(received, response);
};

async function start() {
  const operator = await WiredOperator.start();
  const directory = await RecordingServer.start(byNumber);
  const auditLog = files.write(`audit-${Math.random()}.jsonl`, '');
  const service = await startServiceOf(
    [entryAt(operator.url)],
    {
      ...issuer.settings,
      AUDIT_LOG: auditLog,
      AUDIT_KEY: 'a-key-of-at-least-thirty-two-characters',
      QUOTA_NUMBERS_PER_HOUR: String(NUMBERS),
    },
    { directory: { url: directory.url } },
  );
  const lists = async (sub: string, numbers: readonly string[], fields: string) => {
    const token = await issuer.token({ sub, scope: 'sim-swap:read' });
    const query = `query ($l: [ID!]!) { phoneNumbers(e164s: $l) { ${fields} } }`;
    return service.ask(query, { l: numbers }, { authorization: `Bearer ${token}` });
  };
  const asked = () =>
    new Set(
      directory.received.map(
        ({ body }) => (JSON.parse(body) as { phoneNumber: string }).phoneNumber,
      ),
    );
  const admitted = () =>
    readFileSync(auditLog, 'utf8')
      .split('\n')
      .filter((text) => text.includes('"event":"routing"') && text.includes('"before"')).length;
  const close = async () => {
    await service.stop();
    await directory[Symbol.asyncDispose]();
    await operator[Symbol.asyncDispose]();
  };
  return { lists, asked, admitted, directory, [Symbol.asyncDispose]: close };
}

it.each(['simSwapConsent { state }', 'simSwapCheck { result reason }', 'simSwappedWithin'])(
  'no number beyond the quota reaches the directory, and nothing is said about it: %s',
  async (fields) => {
    await using stage = await start();
    const numbers = Array.from({ length: 40 }, (_, index) => line(index));
    const { data, text } = await stage.lists('scanner', numbers, fields);
    expect(stage.admitted()).toBe(NUMBERS);
    // A busy machine may have no time left for one.
    expect(stage.asked().size).toBeLessThanOrEqual(NUMBERS);
    expect(stage.asked()).not.toEqual(new Set());
    expect(text.split('RATE_LIMITED').length - 1).toBe(numbers.length - NUMBERS);
    expect(data.phoneNumbers).toHaveLength(40);
    // One that counts passes, and is not counted twice.
    const [first = ''] = stage.asked();
    expect((await stage.lists('scanner', [first], fields)).text).not.toContain('RATE_LIMITED');
  },
);

it('in any order of requests the directory is asked no more than was admitted', async () => {
  await using stage = await start();
  const random = new Random(47);
  const draw = (below: number) => random.below(below);
  const fields = [
    'simSwapConsent { state }',
    'simSwapCheck { reason }',
    'simSwappedWithin',
    'e164',
  ];
  const rounds = inForm({ short: 40, long: 100 });
  const atOnce = inForm({ short: 5, long: 100 });
  for (let round = 0; round < rounds; round += 1) {
    const asking = Array.from({ length: atOnce }, async () => {
      const numbers = Array.from({ length: 1 + draw(5) }, () => line(draw(60)));
      await stage.lists(`caller-${draw(3)}`, numbers, fields[draw(4)] ?? '');
    });
    await Promise.all(asking);
    expect(stage.directory.received.length).toBeLessThanOrEqual(stage.admitted());
  }
  expect(stage.asked().size).toBeLessThanOrEqual(3 * NUMBERS);
}, 600_000);
