import { PassThrough } from 'node:stream';
import { afterAll, describe, expect, it } from 'vitest';
import { DEMO_ENTRY, OperatorsFile } from '../support/operatorsFile.ts';
import { deadUrl, RecordingServer } from '../wire/recordingServer.ts';
import { Program } from '../support/program.ts';
import { runsOf } from '../support/runs.ts';
import { simulator } from './checked.ts';

const COMMAND = ['--import', './src/requireNode.js', 'src/commands/operatorsCommand.ts'];
const NUMBER = '+447700900004';
const OTHER = '+447700900001';

function entry(name: string, prefix: string, url: string, flow = '2-legged') {
  const simSwapUrl = `${url}/sim-swap/v2`;
  return { name, prefixes: [prefix], flow, authUrl: url, simSwapUrl, client: DEMO_ENTRY };
}

async function northernAndGone(url: string): Promise<OperatorsFile> {
  return new OperatorsFile([entry('northern', '+44', url), entry('gone', '+33', await deadUrl())]);
}

const REFUSED: readonly (readonly [words: readonly string[], message: RegExp])[] = [
  [['check', '--number', '07700900004'], /starts with \+/],
  [['check', '--operator', 'nobody'], /The operators are: northern/],
  [['nonsense'], /npm run operators -- check/],
];

const [checked, lookedUp, unprompted] = await Promise.all([simulator(), simulator(), simulator()]);
afterAll(() => Promise.all([checked, lookedUp, unprompted].map((one) => one.close())));

const ended = runsOf('src/commands/operatorsCommand.ts', async () => {
  const northern = await northernAndGone(checked.authUrl);
  const other = await northernAndGone(lookedUp.authUrl);
  const prompting = entry('southern', 'default', unprompted.authUrl, '3-legged');
  const asJson = ['check', '--operator', 'northern', '--json', '--number', NUMBER];
  return [
    { words: ['check'], settings: { OPERATORS_FILE: northern.path } },
    { words: asJson, settings: { OPERATORS_FILE: other.path } },
    {
      words: ['check', '--number', NUMBER],
      settings: { OPERATORS_FILE: new OperatorsFile([prompting]).path },
    },
    ...REFUSED.map(([words]) => ({ words, settings: { OPERATORS_FILE: northern.path } })),
  ];
});

describe('operators -- check', () => {
  it('prints a row for each operator and step, what to do, and ends with 1 where one is red', () => {
    const { code, out = '' } = ended(0) ?? {};
    expect(code).toBe(1);
    expect(out).toMatch(/^operator +step +at +result +found\n/);
    expect(out).toMatch(/^northern +credentials +token +ok +a token was issued$/m);
    expect(out).toMatch(/^gone +tcp +127\.0\.0\.1:\d+ +failed +ECONNREFUSED$/m);
    expect(out).toMatch(/^- gone, tcp, 127\.0\.0\.1:\d+: Nothing listens at this port/m);
    expect(out).not.toContain('\u001B');
    expect(checked.stats()).toMatchObject({ lookups: 0, refusedLookups: 0, prompts: 0 });
  });

  it('checks one operator by its name, as JSON, and looks a number up once', () => {
    const { code, out = '', err = '' } = ended(1) ?? {};
    expect(code).toBe(0);
    const operators = [{ operator: 'northern', billedLookups: 1 }];
    expect(JSON.parse(out)).toMatchObject({ ok: true, operators });
    expect(out + err).not.toContain(NUMBER.slice(1));
    expect(lookedUp.stats()).toMatchObject({ lookups: 1 });
  });

  it('calls only the operator of the prefix, and reads numbers from standard input', async () => {
    await using northern = await simulator();
    await using southern = await simulator();
    const file = new OperatorsFile([
      entry('northern', '+44770090000', northern.authUrl),
      entry('southern', 'default', southern.authUrl),
    ]);
    const words = ['check', '--number', '-', '--other-number', '-'];
    const input = `${NUMBER}\n${OTHER}\n`;
    const program = Program.node([...COMMAND, ...words], { OPERATORS_FILE: file.path }, input);
    expect(await program.ended).toEqual({ code: 0, signal: null });
    expect(program.out).toMatch(/^northern +tokens +check +ok/m);
    expect(northern.stats()).toMatchObject({ lookups: 2 });
    expect(southern.stats()).toMatchObject({ lookups: 0 });
  });

  it('prompts no owner without a terminal and without --consent', () => {
    const { code, out } = ended(2) ?? {};
    expect(code).toBe(0);
    expect(out).toMatch(/consent +bc-authorize +not tried +it would prompt .*: add --consent/);
    expect(unprompted.stats()).toMatchObject({ prompts: 0, lookups: 0 });
  });

  it.runIf(process.platform === 'linux').each([
    ['no', 0],
    ['yes', 1],
  ])('prompts the owner after %s at a terminal: %d times', async (answer, prompts) => {
    await using operator = await simulator();
    const file = new OperatorsFile([entry('southern', 'default', operator.authUrl, '3-legged')]);
    const keys = new PassThrough();
    const words = [process.execPath, ...COMMAND, 'check', '--number', NUMBER].join(' ');
    const settings = { OPERATORS_FILE: file.path };
    await using program = new Program('script', ['-qec', words, '/dev/null'], settings, {
      input: keys,
    });
    await program.written(/the number that ends in 04, once, .*Type yes to continue: /);
    keys.write(`${answer}\r`);
    expect((await program.ended).code).toBe(0);
    expect(operator.stats()).toMatchObject({ prompts, lookups: prompts });
  });

  it('ends at once after Ctrl-C', async () => {
    const { promise: asked, resolve } = Promise.withResolvers<void>();
    await using operator = await RecordingServer.start(() => resolve());
    const file = new OperatorsFile([entry('silent', 'default', operator.url)]);
    await using program = Program.node([...COMMAND, 'check', '--timeout', '60'], {
      OPERATORS_FILE: file.path,
    });
    await asked;
    program.signal('SIGINT');
    expect((await program.exit).signal).toBe('SIGINT');
  });

  it.each(REFUSED.map(([words, message], index) => ({ words, message, index })))(
    'refuses $words',
    ({ message, index }) => {
      const err: unknown = expect.stringMatching(message);
      expect(ended(index + 3)).toMatchObject({ code: 1, err });
    },
  );
});
