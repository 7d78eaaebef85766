import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { rmSync, truncateSync, writeFileSync } from 'node:fs';
import { jwtVerify } from 'jose';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hurriedClock } from '../support/hurriedClock.ts';
import { answerJson, RecordingServer, type Received } from '../wire/recordingServer.ts';
import { startServiceWith, type Service } from '../support/service.ts';
import { TemporaryFiles } from '../support/temporary.ts';
import { WiredOperator } from '../support/wiredOperator.ts';

const ALICE = '+447700900001';
const WITHIN = `{ phoneNumber(e164: "${ALICE}") { simSwappedWithin } }`;
const READ_AGAIN = 'info Files have changed and were read again';
const UNUSABLE = 'error Files have changed and cannot be used';

let operator: WiredOperator;
let files: TemporaryFiles;

beforeEach(async () => {
  operator = await WiredOperator.start();
  files = new TemporaryFiles();
});

afterEach(() => operator[Symbol.asyncDispose]());

function serve(settings: Readonly<Record<string, string>>): Promise<Service> {
  return startServiceWith({ PORT: '0', ...settings }, { clock: hurriedClock });
}

/** The settings of one operator, without its secret. */
function oneOperator(settings: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const { OPERATOR_CLIENT_SECRET: _secret, ...others } = operator.settings;
  return { ...others, ...settings };
}

/** An OPERATORS_FILE with one entry. */
function operatorsFile(entry: object, others: object = {}): Readonly<Record<string, string>> {
  const { url } = operator;
  const common = { name: 'alpha', prefixes: ['default'], flow: '2-legged' };
  const operators = [{ ...common, authUrl: url, simSwapUrl: url, ...entry }];
  const path = files.write('operators.json', JSON.stringify({ operators, ...others }));
  return { OPERATORS_FILE: path };
}

function pemOf(namedCurve: string): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function times(service: Pick<Service, 'logged'>, message: string): number {
  return service.logged.filter((line) => line.startsWith(message)).length;
}

/** Acts, and waits until the log has the message once more. */
async function logged(service: Pick<Service, 'logged'>, message: string, act: () => void) {
  const before = times(service, message);
  act();
  await expect.poll(() => times(service, message), { timeout: 15_000 }).toBe(before + 1);
  return service.logged.findLast((line) => line.startsWith(message)) ?? '';
}

function answerOf({ data }: Awaited<ReturnType<Service['ask']>>): unknown {
  return data?.phoneNumber?.simSwappedWithin;
}

/** The secret in the last token request. */
function shownSecret(): string {
  const { headers } = operator.tokens.at(-1) as Received;
  const [, basic = ''] = headers.authorization?.split(' ') ?? [];
  return Buffer.from(basic, 'base64').toString().split(':')[1] ?? '';
}

describe('a changed file is used without a restart', () => {
  it.each([
    [
      'OPERATOR_CLIENT_SECRET_FILE',
      (secret: string) => oneOperator({ OPERATOR_CLIENT_SECRET_FILE: secret }),
    ],
    [
      "a secret of the operators' file",
      () => operatorsFile({ client: { id: 'client', secret: { file: 'secret' } } }),
    ],
  ])('%s', async (_, settingsOf) => {
    await using service = await serve(settingsOf(files.write('secret', 'the-first\n')));
    expect(answerOf(await service.ask(WITHIN))).toBe(false);
    expect(shownSecret()).toBe('the-first');
    await service.ask(WITHIN);
    const { length } = operator.connections;
    const line = await logged(service, READ_AGAIN, () => files.write('secret', 'the-second\n'));
    expect(line).not.toContain('the-second');
    expect(answerOf(await service.ask(WITHIN))).toBe(false);
    expect(shownSecret()).toBe('the-second');
    // Existing connections are kept.
    expect(operator.connections).toHaveLength(length);
  });

  it("a header of the operators' file, and one of the number directory", async () => {
    await using directory = await RecordingServer.start((received, response) =>
      answerJson(received, response, { operator: 'alpha' }),
    );
    files.write('secret', 'secret');
    files.write('key', 'key-1');
    const headers = { 'x-api-key': { file: 'key' } };
    const settings = operatorsFile(
      { client: { id: 'client', secret: { file: 'secret' } }, headers },
      { directory: { url: directory.url, headers, keepSeconds: 0 } },
    );
    await using service = await serve(settings);
    const keys = async () => {
      await service.ask(WITHIN);
      const last = [operator.lookups.at(-1), directory.received.at(-1)];
      return last.map((received) => received?.headers['x-api-key']);
    };
    expect(await keys()).toEqual(['key-1', 'key-1']);
    files.write('key', 'key-2');
    await expect.poll(keys, { timeout: 15_000 }).toEqual(['key-2', 'key-2']);
  });

  it('OPERATOR_ASSERTION_KEY_FILE', async () => {
    const [first, second, other] = [pemOf('P-256'), pemOf('P-256'), pemOf('P-384')];
    const settings = { OPERATOR_ASSERTION_KEY_FILE: files.write('key.pem', first) };
    await using service = await serve(oneOperator(settings));
    const signedBy = async (pem: string): Promise<boolean> => {
      await service.ask(WITHIN);
      const form = new URLSearchParams(operator.tokens.at(-1)?.body);
      const verified = jwtVerify(form.get('client_assertion') ?? '', createPublicKey(pem));
      return verified.then(
        () => true,
        () => false,
      );
    };
    expect(await signedBy(first)).toBe(true);
    const line = await logged(service, UNUSABLE, () => files.write('key.pem', other));
    expect(line).toContain('OPERATOR_ASSERTION_KEY_FILE must be a private key');
    expect(await signedBy(first)).toBe(true);
    await logged(service, READ_AGAIN, () => files.write('key.pem', second));
    expect(await signedBy(second)).toBe(true);
  });
});

describe('a file that cannot be used leaves the last one in force, and is logged', () => {
  it.each([
    ['gone', (path: string) => rmSync(path)],
    ['empty', (path: string) => truncateSync(path)],
    ['blank', (path: string) => writeFileSync(path, ' \n')],
  ])('a secret that is %s', async (_, spoil) => {
    const path = files.write('secret', 'the-first');
    await using service = await serve(oneOperator({ OPERATOR_CLIENT_SECRET_FILE: path }));
    const line = await logged(service, UNUSABLE, () => spoil(path));
    expect(line).toMatch(/_SECRET_FILE names a file that (?:cannot be read|is empty)/);
    expect(answerOf(await service.ask(WITHIN))).toBe(false);
    expect(shownSecret()).toBe('the-first');
    await logged(service, READ_AGAIN, () => files.write('secret', 'the-second'));
    await service.ask(WITHIN);
    expect(shownSecret()).toBe('the-second');
  });

  it('of one operator does not affect that of another', async () => {
    const { url } = operator;
    const entry = (name: string, prefix: string) => ({
      name,
      prefixes: [prefix],
      authUrl: url,
      simSwapUrl: url,
      flow: '2-legged',
      client: { id: name, secret: { file: files.write(name, `${name}-1`) } },
    });
    const operators = [entry('alpha', '+44'), entry('beta', '+33')];
    const path = files.write('operators.json', JSON.stringify({ operators }));
    await using service = await serve({ OPERATORS_FILE: path });
    const line = await logged(service, UNUSABLE, () => files.write('alpha', ''));
    expect(line).toContain('operators[0].client.secret.file');
    expect(line).toContain('"operator":"alpha"');
    await logged(service, READ_AGAIN, () => files.write('beta', 'beta-2'));
    const secretFor = async (number: string) => {
      await service.ask(`{ phoneNumber(e164: "${number}") { simSwappedWithin } }`);
      return shownSecret();
    };
    expect(await secretFor('+447700900001')).toBe('alpha-1');
    expect(await secretFor('+33600000001')).toBe('beta-2');
  });

  it('changed between reading the settings and the first check is read again', async () => {
    const path = files.write('secret', 'the-first');
    const settings = { PORT: '0', ...oneOperator({ OPERATOR_CLIENT_SECRET_FILE: path }) };
    await using service = await startServiceWith(settings, {
      // The file has been read and is not watched yet.
      get clock() {
        files.write('secret', 'the-second');
        return hurriedClock;
      },
    });
    await expect.poll(() => times(service, READ_AGAIN), { timeout: 15_000 }).toBe(1);
    await service.ask(WITHIN);
    expect(shownSecret()).toBe('the-second');
  });
});

describe('TRUSTED_DOCUMENTS', () => {
  const FIRST = 'query First { phoneNumber(e164: "+447700900001") { simSwappedWithin } }';
  const SECOND = 'query Second { phoneNumber(e164: "+447700900001") { e164 } }';
  const restricted = () =>
    serve({
      ...operator.settings,
      TRUSTED_DOCUMENTS: files.write('documents.json', JSON.stringify({ first: FIRST })),
    });

  it('of the next release are served without a restart', async () => {
    await using service = await restricted();
    const both = async () => [await byId(service, 'first'), await byId(service, 'second')];
    expect(await both()).toEqual(['served', 'PERSISTED_QUERY_NOT_IN_LIST']);
    const line = await logged(service, READ_AGAIN, () =>
      files.write('documents.json', JSON.stringify({ first: FIRST, second: SECOND })),
    );
    expect(line).toContain('"setting":"TRUSTED_DOCUMENTS"');
    expect(await both()).toEqual(['served', 'served']);
  });

  it.each([
    ['empty', (path: string) => truncateSync(path)],
    ['for another schema', () => files.write('documents.json', '{"first": "{ nothing }"}')],
  ])('that are %s never lift the restriction', async (_, spoil) => {
    await using service = await restricted();
    await logged(service, UNUSABLE, () => spoil(`${files.folder}/documents.json`));
    expect(await byId(service, 'first')).toBe('served');
    expect((await service.ask(WITHIN)).codes).toEqual(['PERSISTED_QUERY_ID_REQUIRED']);
    expect(operator.lookups).toHaveLength(1);
  });
});

/** The outcome of a trusted document by its id. */
async function byId(service: Service, documentId: string): Promise<string> {
  const reply = await service.send('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ documentId }),
  });
  return reply.codes[0] ?? 'served';
}
