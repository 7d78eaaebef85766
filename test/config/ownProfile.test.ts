import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { camara } from '../../profiles/camara.ts';
import { readConfig } from '../../src/config/config.ts';
import type { MakeProfile } from '../../src/domain/profile.ts';
import { codeBlocksOf } from '../support/documents.ts';
import { answerJson, RecordingServer, type Answer } from '../wire/recordingServer.ts';
import { metricsOf } from '../metrics/scrape.ts';
import { entryAt } from '../support/operatorsFile.ts';
import { Program } from '../support/program.ts';
import { startServiceWith, type Service } from '../support/service.ts';
import { Collector } from '../tracing/collector.ts';
import { problemsOf } from './problems.ts';
import { temporaryFolder } from '../support/temporary.ts';

const EXAMPLE = codeBlocksOf('docs/operators.md').find(({ language }) => language === 'ts');
const NUMBER = '+447700900001';
const OTHER = '+447700900002';

const folder = temporaryFolder();
mkdirSync(join(folder, 'within'));
writeFileSync(join(folder, 'outside.ts'), 'export default (camara) => camara;');

function entryOf(profile: unknown, url: string) {
  return entryAt(url, { profile, client: { id: 'us', secret: { variable: 'SECRET' } } });
}

/** The settings of one operator with this profile. */
function settingsWith(text: string, url = 'https://operator.example', path = './own.ts') {
  const within = mkdtempSync(join(folder, 'within', 'files-'));
  writeFileSync(join(within, 'own.ts'), text);
  const OPERATORS_FILE = join(within, 'operators.json');
  writeFileSync(OPERATORS_FILE, JSON.stringify({ operators: [entryOf(path, url)] }));
  return { OPERATORS_FILE, SECRET: 's3cret', PORT: '0' };
}

const WINDOW =
  'query ($e164: ID!) { phoneNumber(e164: $e164) { simSwapCheck(maxAgeHours: 24) { result reason } } }';

async function checkOf(service: Pick<Service, 'ask'>, e164: string): Promise<unknown> {
  const { data } = await service.ask(WINDOW, { e164 });
  const { result, reason } = data.phoneNumber.simSwapCheck;
  return reason ?? result;
}

/** The operator of the example in docs/operators.md. */
async function startTheirs(answer?: Answer): Promise<RecordingServer> {
  return RecordingServer.start((request, response) => {
    if (request.path === '/oauth2/token') {
      answerJson(request, response, { access_token: 't', token_type: 'Bearer', expires_in: 60 });
    } else if (answer !== undefined) {
      answer(request, response);
    } else if (request.path.includes(OTHER.slice(1))) {
      answerJson(request, response, { code: '17' }, 404);
    } else {
      answerJson(request, response, { code: '00', result: { changed: 'N' } });
    }
  });
}

const ours: MakeProfile = (base) => ({ ...base, maxAgeHours: 100 });
const read = (profile: unknown) =>
  readConfig({ SECRET: 's3cret' }, { operators: [entryOf(profile, 'https://operator.example')] })
    .operators[0];

describe('the example of docs/operators.md', () => {
  it('answers as its papers say', async () => {
    await using theirs = await startTheirs();
    await using service = await startServiceWith(settingsWith(EXAMPLE?.text ?? '', theirs.url));

    expect(await checkOf(service, NUMBER)).toBe('NOT_SWAPPED');
    expect(await checkOf(service, OTHER)).toBe('NUMBER_NOT_SERVED');
    const [token, lookup] = theirs.received;
    const client = 'client_id=us&client_secret=s3cret';
    expect(token?.body).toBe(`grant_type=client_credentials&scope=swap.read&${client}`);
    expect([lookup?.method, lookup?.path]).toEqual(['GET', '/lines/447700900001/swap?hours=24']);
    expect(service.logged.join()).not.toContain('7700900');
  });

  it('is named in the first line of the log, with its hash', async () => {
    const text = EXAMPLE?.text ?? '';
    await using server = Program.node(['src/main.ts'], settingsWith(text));
    const [line] = await server.written(/^.*"msg":"Starting.".*(?=\n)/m);
    const sha256 = createHash('sha256').update(text).digest('hex');
    expect(JSON.parse(line)).toMatchObject({ profiles: `./own.ts sha256:${sha256}` });
  });

  it('has a hash that covers what it imports from below its folder, through other files too', () => {
    const text = "export { ours as default } from './parts/ours.ts';";
    const settings = settingsWith(text);
    const within = dirname(settings.OPERATORS_FILE);
    mkdirSync(join(within, 'parts'));
    const write = (name: string, its: string) => writeFileSync(join(within, name), its);
    write(
      'parts/ours.ts',
      "import { hours } from './hours.cjs';\nexport const ours = (camara) => " +
        '({ ...camara, maxAgeHours: hours });',
    );
    write('parts/hours.cjs', "exports.hours = require('../hours.cjs').hours;");
    write('hours.cjs', 'exports.hours = 100;');
    write('beside.cjs', 'exports.hours = 1;');
    const hash = () => readConfig(settings).operators[0]?.profile.sha256;

    const first = hash();
    const printed = execFileSync(
      'sha256sum',
      ['own.ts', 'hours.cjs', 'parts/hours.cjs', 'parts/ours.ts'],
      { cwd: within },
    );
    expect(first).toBe(createHash('sha256').update(printed).digest('hex'));
    write('beside.cjs', 'exports.hours = 2;');
    expect(hash()).toBe(first);
    write('hours.cjs', 'exports.hours = 99;');
    expect(hash()).not.toBe(first);
  });

  it('may be passed as a function', async () => {
    expect(read(ours)).toMatchObject({ maxAgeHours: 100, profile: { name: 'handed in' } });
    const problem = 'operators, as passed in: operators[0].profile has an invalid authentication';
    expect(() => read({})).toThrow(problem);
  });
});

it('a profile may write names of headers and types of tokens in capitals', () => {
  const { tokens, correlator } = camara;
  const sentIn = { ...tokens.sentIn, header: 'X-Token' };
  const changed = { ...tokens, types: ['BEARER'], sentIn };
  const profile = { ...camara, tokens: changed, correlator: { ...correlator, header: 'X-Id' } };
  expect(read(profile)).toMatchObject({
    tokens: { types: ['bearer'], sentIn: { header: 'x-token' } },
    correlator: { header: 'x-id' },
  });
});

describe('a number in a path', () => {
  it('is replaced by a placeholder in logs, spans and metrics, also where the operator fails', async () => {
    await using theirs = await startTheirs((request, response) =>
      answerJson(request, response, { code: 'X' }, 500),
    );
    await using collector = await Collector.start();
    const settings = { ...collector.settings, METRICS_PORT: '0', LOG_LEVEL: 'debug' };
    const own = settingsWith(EXAMPLE?.text ?? '', theirs.url);
    const service = await startServiceWith({ ...own, ...settings });
    expect(await checkOf(service, NUMBER)).toBe('OPERATOR_UNAVAILABLE');
    const metrics = await metricsOf(service);
    await service.stop();
    expect(theirs.received.map(({ path }) => path)).toContain('/lines/447700900001/swap?hours=24');

    const seen = [service.logged.join('\n'), collector.text, metrics];
    expect(seen[1]).toContain('/lines/{digits}/swap');
    for (const text of seen) expect(text).not.toMatch(/7700900001/);
  });
});

describe('a profile that cannot be used', () => {
  const TYPES = 'import only types';
  it.each([
    ['an enum', 'enum A { B }\nexport default (camara) => camara;', 'cannot be erased'],
    ['not TypeScript', 'export default (camara => {', 'is not TypeScript'],
    ['a wait', 'await 1;\nexport default (camara) => camara;', 'waits at its top level'],
    ['what the package lacks', "export { a as default } from 'sim-swap-subgraph/client';", TYPES],
    ['a missing file', "export { x as default } from './none.ts';", 'imports what is not there'],
    ['a throw', "throw new Error('s3cret-value');", 'it throws Error'],
    ['a throw of its function', "export default () => { throw 's3cret'; };", 'throws when'],
    ['a promise', 'export default async (camara) => camara;', '(camara) => ({ ...camara, … })'],
    ['no export', 'export const ours = 1;', 'must export default'],
    ['a change of the base', 'export default (c) => delete c.lookups;', 'throws when it is made'],
  ])('%s', (_, text, problem) => {
    const problems = problemsOf(settingsWith(text));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^OPERATORS_FILE \(line 1\): operators\[0\]\.profile /);
    expect(problems[0]).toContain(problem);
    expect(problems[0]).not.toContain('s3cret');
  });

  it('has all of its problems reported at once, with those of the settings', () => {
    const text = `export default (camara) => ({ ...camara, colour: 'red', maxAgeHours: 0, tokens: {},
      lookups: { check: { ...camara.lookups.check, path: 'check', write: 'no' } } });`;
    const where = 'OPERATORS_FILE (line 1): operators[0].profile has';
    const problems = problemsOf({ ...settingsWith(text), PORT: 'x' });
    expect(problems).toHaveLength(10);
    expect(problems.join('\n')).toContain(`${where} an invalid lookups.check.path: `);
  });

  it.each([
    ['../../outside.ts', 'must be below the folder of the file that names it'],
    ['./none.ts', 'names a file that cannot be read'],
    ['./operators.json', 'must be a file of TypeScript or JavaScript'],
  ])('%s', (profile, problem) => {
    const settings = settingsWith('export default (camara) => camara;', undefined, profile);
    expect(problemsOf(settings).join()).toContain(problem);
  });

  it.each(['/a/g', '/a/y', '{ __proto__: RegExp.prototype }', "'a'"])(
    'with %s for the pattern of an option',
    (pattern) => {
      const options = `{ host: { description: 'x', pattern: ${pattern}, default: 'a' } }`;
      const text = `export default (camara) => ({ ...camara, options: ${options} });`;
      expect(problemsOf(settingsWith(text))).toEqual([
        'OPERATORS_FILE (line 1): operators[0].profile has an invalid options.host.pattern: it must be a regular expression without the flags g and y.',
      ]);
    },
  );

  it('cannot lead to another host', () => {
    const text = `export default (camara) => ({ ...camara,
      lookups: { check: { ...camara.lookups.check, path: ':80@elsewhere.example/x' } } });`;
    expect(problemsOf(settingsWith(text)).join()).toContain('simSwapUrl leads to another host');
  });
});

const write = (text: string) => `export default (camara) => ({ ...camara, lookups: {
  check: { ...camara.lookups.check, write: ${text} } } });`;

describe('a profile that fails at a lookup', () => {
  it.each<[string, string]>([
    ['a throw', write('({ number }) => { throw new Error(number); }')],
    ['a rejection', write('({ number }) => Promise.reject(new Error(number))')],
    [
      'a choice that throws',
      `export default (camara) => ({ ...camara, lookups: { check: { ...camara.lookups.check,
        read: { ...camara.lookups.check.read, pick: () => { throw new Error('x'); } } } } });`,
    ],
  ])('%s is an invalid reply, for this number and for others', async (_, text) => {
    await using theirs = await startTheirs();
    await using service = await startServiceWith(settingsWith(text, theirs.url));
    expect(await checkOf(service, NUMBER)).toBe('OPERATOR_INVALID_REPLY');
    expect(await checkOf(service, OTHER)).toBe('OPERATOR_INVALID_REPLY');
    expect(service.logged.join()).not.toContain('7700900');
    expect((await service.send('/livez')).status).toBe(200);
  });
});
