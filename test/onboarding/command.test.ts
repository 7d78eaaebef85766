import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { DEMO_ENTRY, OperatorsFile } from '../support/operatorsFile.ts';
import { deadUrl, RecordingServer } from '../wire/recordingServer.ts';
import { Program } from '../support/program.ts';
import { refusalsOf } from '../support/refusals.ts';
import { simulator } from './checked.ts';

const COMMAND = ['--import', './src/requireNode.js', 'src/commands/operatorsCommand.ts'];
const NUMBER = '+447700900004';
const OTHER = '+447700900001';

/** Runs the command to its end, with this standard input. */
async function run(words: readonly string[], settings: Record<string, string> = {}, input = '') {
  const program = Program.node([...COMMAND, ...words], settings, input);
  const { code } = await program.ended;
  return { code, out: program.out, err: program.err };
}

function entry(name: string, prefix: string, url: string, flow = '2-legged') {
  const simSwapUrl = `${url}/sim-swap/v2`;
  return { name, prefixes: [prefix], flow, authUrl: url, simSwapUrl, client: DEMO_ENTRY };
}

async function northernAndGone(url: string): Promise<OperatorsFile> {
  return new OperatorsFile([entry('northern', '+44', url), entry('gone', '+33', await deadUrl())]);
}

describe('operators -- check', () => {
  it('prints a row for each operator and step, what to do, and ends with 1 where one is red', async () => {
    await using operator = await simulator();
    const file = await northernAndGone(operator.authUrl);
    const { code, out } = await run(['check'], { OPERATORS_FILE: file.path });
    expect(code).toBe(1);
    expect(out).toMatch(/^operator +step +at +result +found\n/);
    expect(out).toMatch(/^northern +credentials +token +ok +a token was issued$/m);
    expect(out).toMatch(/^gone +tcp +127\.0\.0\.1:\d+ +failed +ECONNREFUSED$/m);
    expect(out).toMatch(/^- gone, tcp, 127\.0\.0\.1:\d+: Nothing listens at this port/m);
    expect(out).not.toContain('\u001B');
    expect(operator.stats()).toMatchObject({ lookups: 0, refusedLookups: 0, prompts: 0 });
  });

  it('checks one operator by its name, as JSON, and looks a number up once', async () => {
    await using operator = await simulator();
    const file = await northernAndGone(operator.authUrl);
    const words = ['check', '--operator', 'northern', '--json', '--number', NUMBER];
    const { code, out, err } = await run(words, { OPERATORS_FILE: file.path });
    expect(code).toBe(0);
    const operators = [{ operator: 'northern', billedLookups: 1 }];
    expect(JSON.parse(out)).toMatchObject({ ok: true, operators });
    expect(out + err).not.toContain(NUMBER.slice(1));
    expect(operator.stats()).toMatchObject({ lookups: 1 });
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
    const { code, out } = await run(words, { OPERATORS_FILE: file.path }, input);
    expect(code).toBe(0);
    expect(out).toMatch(/^northern +tokens +check +ok/m);
    expect(northern.stats()).toMatchObject({ lookups: 2 });
    expect(southern.stats()).toMatchObject({ lookups: 0 });
  });

  it('prompts no owner without a terminal and without --consent', async () => {
    await using operator = await simulator();
    const file = new OperatorsFile([entry('southern', 'default', operator.authUrl, '3-legged')]);
    const { code, out } = await run(['check', '--number', NUMBER], { OPERATORS_FILE: file.path });
    expect(code).toBe(0);
    expect(out).toMatch(/consent +bc-authorize +not tried +it would prompt .*: add --consent/);
    expect(operator.stats()).toMatchObject({ prompts: 0, lookups: 0 });
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

  const REFUSED: readonly (readonly [words: readonly string[], message: RegExp])[] = [
    [['check', '--number', '07700900004'], /starts with \+/],
    [['check', '--operator', 'nobody'], /The operators are: northern/],
    [['nonsense'], /npm run operators -- check/],
  ];
  const refusalOf = refusalsOf('src/commands/operatorsCommand.ts', () => {
    const { path } = new OperatorsFile([entry('northern', '+44', 'http://127.0.0.1:1')]);
    return REFUSED.map(([words]) => ({ words, settings: { OPERATORS_FILE: path } }));
  });

  it.each(REFUSED.map(([words, message], index) => ({ words, message, index })))(
    'refuses $words',
    ({ message, index }) => {
      const err: unknown = expect.stringMatching(message);
      expect(refusalOf(index)).toMatchObject({ code: 1, err });
    },
  );
});
