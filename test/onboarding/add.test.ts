import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { generateKeyPairSync } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { parse } from 'jsonc-parser';
import { describe, expect, it, onTestFinished } from 'vitest';
import { secretProblemsBy } from '../../src/config.ts';
import { placeholdersIn } from '../../src/onboarding/add/draft.ts';
import { emptyFile, withEntryText } from '../../src/onboarding/add/fileText.ts';
import { fillIn, QUESTION_IDS, type FilledIn } from '../../src/onboarding/add/fillIn.ts';
import type { Answers, AskedQuestion } from '../../src/onboarding/add/interview.ts';
import { profileNames } from '../../src/onboarding/add/profiles.ts';
import { replaceFile } from '../../src/onboarding/add/replaceFile.ts';
import { promptFor } from '../../src/onboarding/add/typedAnswers.ts';
import { readAnswers } from '../../src/onboarding/add/writtenAnswers.ts';

/** Answers by question, each in turn; to all others by default. */
class Scripted implements Answers {
  readonly asked: string[] = [];
  readonly problems: string[] = [];
  readonly #answers: Record<string, string[]>;

  constructor(answers: Readonly<Record<string, string | readonly string[]>>) {
    this.#answers = Object.fromEntries(
      Object.entries(answers).map(([id, answer]) => [id, [answer].flat()]),
    );
  }

  to({ id }: AskedQuestion, problem?: string): Promise<string | undefined> {
    this.asked.push(id);
    if (problem !== undefined) this.problems.push(`${id} ${problem}`);
    const given = this.#answers[id];
    return Promise.resolve(given === undefined && problem === undefined ? '' : given?.shift());
  }
}

const KEY = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
  type: 'pkcs8',
  format: 'pem',
});

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'onboarding-'));
  onTestFinished(() => rmSync(made, { recursive: true }));
  writeFileSync(join(made, 'secret'), 'of-the-operator\n');
  writeFileSync(join(made, 'key.pem'), KEY);
  return made;
}

const PAPERS = {
  name: 'northern',
  prefixes: '+44',
  authUrl: 'https://auth.northern.example.com',
  simSwapUrl: 'https://api.northern.example.com/sim-swap/v2',
  'client.id': 'us',
  'client.secret': 'secret',
};

async function fill(answers: Answers, file: unknown = { operators: [] }): Promise<FilledIn> {
  const secretProblems = secretProblemsBy(join(folder(), 'operators.jsonc'));
  return fillIn({ file, answers, secretProblems, onNotes: () => undefined });
}

describe('the questions of the onboarding papers', () => {
  it('make an entry that says no more than the papers do', async () => {
    expect(await fill(new Scripted(PAPERS))).toEqual({
      kind: 'filled in',
      isNew: true,
      index: 0,
      entry: {
        name: 'northern',
        prefixes: ['+44'],
        flow: '2-legged',
        authUrl: PAPERS.authUrl,
        simSwapUrl: PAPERS.simSwapUrl,
        client: { id: 'us', method: 'basic', secret: { file: 'secret' } },
      },
    });
  });

  it('are asked again where an answer cannot stand in the file, and say why without a quote of it', async () => {
    const answers = new Scripted({
      ...PAPERS,
      name: ['Northern', 'northern'],
      flow: ['3legged', '3-legged'],
      authUrl: ['northern', PAPERS.authUrl],
      'client.secret': ['kept-secret', 'secret'],
      maxAgeHours: ['many', '240'],
      'price.currency': ['euro', 'EUR'],
      'price.check': ['2 cents', '0.02'],
    });
    const filled = await fill(answers);
    expect(answers.problems).toEqual([
      'name must be up to 32 small letters, digits and hyphens',
      'flow must be one of 2-legged, 3-legged',
      'authUrl must be an address that starts with http:// or https://',
      'client.secret names a file that cannot be read, or is empty',
      'maxAgeHours must be a number',
      'price.currency must be a currency by its three letters, such as EUR',
      'price.check must be an amount with at most six decimals, such as "0.0215"',
    ]);
    expect(filled).toMatchObject({
      kind: 'filled in',
      entry: { flow: '3-legged', maxAgeHours: 240, price: { currency: 'EUR', check: '0.02' } },
    });
  });

  it('tell a prefix that another operator has', async () => {
    const file = { operators: [{ name: 'southern', prefixes: ['+44'] }] };
    const answers = new Scripted({ ...PAPERS, prefixes: ['+44', '+44770'] });
    expect(await fill(answers, file)).toMatchObject({ kind: 'filled in', index: 1 });
    expect(answers.problems).toEqual([
      'prefixes is a prefix of southern as well: a number is asked about at one operator',
    ]);
  });

  it('take the issuer of a discovery document in place of the address', async () => {
    const answers = new Scripted({ ...PAPERS, 'discovery.issuer': 'https://auth.example.com' });
    const filled = await fill(answers);
    expect(answers.asked).not.toContain('authUrl');
    expect(filled).toMatchObject({ entry: { discovery: { issuer: 'https://auth.example.com' } } });
  });

  it('ask for TLS and proxy files, and for those that go with them', async () => {
    const answers = new Scripted({
      ...PAPERS,
      'tls.certificate': 'secret',
      'tls.key': 'secret',
      'proxy.url': ['proxy', 'http://proxy.example.com:3128'],
    });
    expect(await fill(answers)).toMatchObject({
      entry: {
        tls: { certificate: { file: 'secret' }, key: { file: 'secret' } },
        proxy: { url: 'http://proxy.example.com:3128' },
      },
    });
    expect(answers.asked).toEqual(expect.arrayContaining(['tls.passphrase', 'proxy.credentials']));
  });

  it.each(profileNames())(
    'start from the profile %s, and take over what it says',
    async (profile) => {
      const answers = new Scripted({
        ...PAPERS,
        profile,
        name: 'own-name',
        'client.assertion.key': 'key.pem',
        'client.assertion.audience': 'https://auth.northern.example.com',
      });
      const filled = await fill(answers);
      expect(filled).toMatchObject({ kind: 'filled in', entry: { name: 'own-name' } });
    },
  );

  it.each([
    ['kpn', 'private_key_jwt', ['assertion', 'id', 'method']],
    ['orange', 'basic', ['id', 'method', 'secret']],
    ['jwt-bearer', 'basic', ['assertion', 'id', 'method', 'secret']],
  ])('leave out what %s says of another method than %s', async (profile, method, members) => {
    const answers = new Scripted({
      ...PAPERS,
      profile,
      'client.method': method,
      'client.assertion.key': 'key.pem',
      'client.assertion.audience': 'https://auth.northern.example.com',
    });
    const filled = await fill(answers);
    const client = filled.kind === 'filled in' ? filled.entry['client'] : undefined;
    expect(Object.keys(client ?? {}).toSorted()).toEqual(members);
  });

  it.each([
    ['no', 'kept'],
    ['yes', 'filled in'],
  ])('replace an entry of the same name after %s', async (replace, kind) => {
    const file = { operators: [{ name: 'southern' }, { name: 'northern', prefixes: ['+44'] }] };
    expect(await fill(new Scripted({ ...PAPERS, replace }), file)).toMatchObject(
      kind === 'kept' ? { kind } : { kind, index: 1, isNew: false },
    );
  });

  it('end where no answer is to be had', async () => {
    const nothing: Answers = { to: () => Promise.resolve(undefined) };
    const filled = await fill(nothing);
    expect(filled).toMatchObject({ kind: 'not filled in' });
  });

  it('each have a name of their own', () => {
    expect(new Set(QUESTION_IDS).size).toBe(QUESTION_IDS.length);
  });
});

describe('answers that were written down', () => {
  it('are read by their names', () => {
    const { answers, problems } = readAnswers(' a.b = one = two \r\n\n# c\nd=\n', ['a.b', 'd']);
    expect([...answers]).toEqual([
      ['a.b', 'one = two'],
      ['d', ''],
    ]);
    expect(problems).toEqual([]);
  });

  it.each([
    ['nmae = a', 'Line 1: nmae is not asked for. Did you mean name?'],
    ['name a', 'Line 1 is not name = answer.'],
    ['name = a\nname = b', 'Line 2: name is answered twice.'],
  ])('%j is not understood', (text, problem) => {
    expect(readAnswers(text, ['name']).problems).toEqual([problem]);
  });
});

it.each<readonly [Omit<AskedQuestion, 'id'>, string]>([
  [{ asks: 'Client id', isOptional: false, standard: undefined }, 'Client id: '],
  [{ asks: 'Flow', isOptional: false, standard: 'a', choices: ['a', 'b'] }, 'Flow (a, b) [a]: '],
  [{ asks: 'Purpose', isOptional: true, standard: undefined }, 'Purpose [nothing]: '],
  [{ asks: 'Purpose', isOptional: true, standard: 'dpv:X' }, 'Purpose [dpv:X, - for nothing]: '],
])('a question shows its default: %j', (asked, prompt) => {
  expect(promptFor({ id: 'any', ...asked })).toBe(prompt);
});

it('what is still to be filled in is found', () => {
  const entry = {
    authUrl: 'https://auth.operator.example',
    headers: [{ name: 'partner', value: 'Fill_in' }],
    client: { id: 'us' },
  };
  expect(placeholdersIn(entry)).toEqual([['authUrl'], ['headers', 0, 'value']]);
});

describe('the text of the file', () => {
  const FILE = `// Ours.
{
  "operators": [
    // The first.
    { "name": "a" }, // By the contract.
  ],
}
`;

  it('keeps its comments when an entry is added', () => {
    const text = withEntryText(FILE, { name: 'b' }, 1, true);
    expect(text).toContain('// Ours.');
    expect(text).toContain('// The first.');
    expect(text).toContain('// By the contract.');
    expect(parse(text, [], { allowTrailingComma: true })).toEqual({
      operators: [{ name: 'a' }, { name: 'b' }],
    });
  });

  it('changes nothing but an entry that is replaced', () => {
    const text = withEntryText(FILE, { name: 'a', flow: '2-legged' }, 0, false);
    expect(text).toContain('// The first.');
    expect(text).toContain('// By the contract.');
    expect(parse(text, [], { allowTrailingComma: true })).toEqual({
      operators: [{ name: 'a', flow: '2-legged' }],
    });
  });

  it.each([
    ['a new file', emptyFile('./schema.json')],
    ['a list on one line', '{"operators":[]}'],
    ['other line breaks', '{\r\n  "operators": []\r\n}\r\n'],
    ['no list yet', '{ "settings": {} }'],
  ])('takes a first entry: %s', (_, before) => {
    const text = withEntryText(before, { name: 'a' }, 0, true);
    expect(parse(text)).toMatchObject({ operators: [{ name: 'a' }] });
    expect(/(?<!\r)\n/.test(text)).toBe(!before.includes('\r'));
  });

  it('has every entry that was put into it, in turn', () => {
    fc.assert(
      fc.property(
        fc.array(fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue()), { maxLength: 4 }),
        (entries) => {
          const text = entries.reduce<string>(
            (before, entry, index) => withEntryText(before, entry, index, true),
            FILE.replace('{ "name": "a" }, // By the contract.', ''),
          );
          expect(parse(text, [], { allowTrailingComma: true })).toEqual({
            operators: JSON.parse(JSON.stringify(entries)),
          });
        },
      ),
      { numRuns: 50 },
    );
  });
});

describe('a file that is replaced', () => {
  it('keeps its mode, and a link to it', async () => {
    const made = folder();
    const [target, link] = [join(made, 'target'), join(made, 'link')];
    writeFileSync(target, 'before');
    chmodSync(target, 0o640);
    symlinkSync(target, link);
    expect(await replaceFile(link, 'before', 'after')).toEqual({ kind: 'written' });
    expect(readFileSync(target, 'utf8')).toBe('after');
    expect(statSync(target).mode & 0o777).toBe(0o640);
  });

  it('is its owner’s alone where it is new', async () => {
    const path = join(folder(), 'new');
    await replaceFile(path, undefined, 'after');
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('stays as it is where it is no longer what was read', async () => {
    const path = join(folder(), 'file');
    writeFileSync(path, 'changed');
    expect(await replaceFile(path, 'before', 'after')).toEqual({ kind: 'changed meanwhile' });
    expect(readFileSync(path, 'utf8')).toBe('changed');
    // Nothing is left behind.
    writeFileSync(path, 'before');
    expect(await replaceFile(path, 'before', 'after')).toEqual({ kind: 'written' });
  });

  it('is written by one at a time: each of several gets its way or is told', async () => {
    const path = join(folder(), 'file');
    writeFileSync(path, 'before');
    const texts = ['one', 'two', 'three'];
    const replaced = await Promise.all(texts.map((text) => replaceFile(path, 'before', text)));
    const written = texts.filter((_, index) => replaced[index]?.kind === 'written');
    expect(written).toEqual([readFileSync(path, 'utf8')]);
  });

  it('says what keeps it from being written', async () => {
    const path = join(folder(), 'none', 'file');
    expect(await replaceFile(path, undefined, 'after')).toEqual({ kind: 'failed', code: 'ENOENT' });
    expect(existsSync(path)).toBe(false);
  });
});
