import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { answerJson, RecordingServer } from '../test/http/recordingServer.ts';
import { startService } from '../test/service.ts';
import { finding, type Finding, type Judge } from './judge.ts';

/** The releases of camaraproject/SimSwap, oldest first. */
const RELEASES = 'v0.4.0 r1.1 r1.2 r1.3 r1.4 r2.1 r2.2 r3.1 r3.2 r3.3 main'.split(' ');

const FOLDER =
  process.env['CAMARA_TEXTS'] ?? fileURLToPath(new URL('../../shared/camara', import.meta.url));

const NOT_HERE =
  'Set CAMARA_TEXTS to a folder with a folder for each release of camaraproject/SimSwap, such as r3.3/sim-swap.yaml, or put it at ../shared/camara.';

type Node = Readonly<Record<string, unknown>>;

interface Operation {
  readonly path: '/check' | '/retrieve-date';
  readonly field: string;
}

const OPERATIONS: readonly Operation[] = [
  { path: '/check', field: 'simSwappedWithin(maxAgeHours: 240)' },
  { path: '/retrieve-date', field: 'lastSimSwap' },
];

/** What a client must get for a refusal, by CAMARA's code: docs/errors.md says what each of ours means. */
const CODES: Readonly<Record<string, string>> = {
  // The number's own.
  NOT_FOUND: 'NUMBER_NOT_SERVED',
  NOT_SUPPORTED: 'NUMBER_NOT_SERVED',
  SERVICE_NOT_APPLICABLE: 'NUMBER_NOT_SERVED',
  // Of the window. The definitions list it for a date too, which has none.
  OUT_OF_RANGE: 'PERIOD_NOT_SUPPORTED',
  // Of our request, credentials or contract: nothing that the client sends could change it.
  INVALID_ARGUMENT: 'OPERATOR_REFUSED',
  UNAUTHENTICATED: 'OPERATOR_REFUSED',
  AUTHENTICATION_REQUIRED: 'OPERATOR_REFUSED',
  PERMISSION_DENIED: 'OPERATOR_REFUSED',
  INVALID_TOKEN_CONTEXT: 'OPERATOR_REFUSED',
  UNIDENTIFIABLE_PHONE_NUMBER: 'OPERATOR_REFUSED',
  MISSING_IDENTIFIER: 'OPERATOR_REFUSED',
  UNNECESSARY_IDENTIFIER: 'OPERATOR_REFUSED',
  // These pass.
  QUOTA_EXCEEDED: 'OPERATOR_RATE_LIMITED',
  TOO_MANY_REQUESTS: 'OPERATOR_RATE_LIMITED',
  INTERNAL: 'OPERATOR_UNAVAILABLE',
  UNAVAILABLE: 'OPERATOR_UNAVAILABLE',
  TIMEOUT: 'OPERATOR_UNAVAILABLE',
};

export const CAMARA_JUDGES: readonly Judge[] = RELEASES.map((release) => ({
  name: `CAMARA's definition of SIM Swap, ${release}`,
  version: versionOf(release),
  form: 'short',
  judge: () =>
    existsSync(fileOf(release)) ? judgeRelease(release) : Promise.resolve({ notHere: NOT_HERE }),
}));

function fileOf(release: string): string {
  return `${FOLDER}/${release}/sim-swap.yaml`;
}

function versionOf(release: string): string {
  const [, version = ''] = existsSync(fileOf(release))
    ? (/^ {2}version: *(\S+)/m.exec(readFileSync(fileOf(release), 'utf8')) ?? [])
    : [];
  return version;
}

/** Our requests are what it defines, and each refusal that it has an example of becomes the error of ours that says so, in the 2-legged flow. */
async function judgeRelease(release: string): Promise<readonly Finding[]> {
  const texts = new Map<string, Node>();
  const read = (name: string): Node => {
    const known =
      texts.get(name) ?? (parse(readFileSync(`${FOLDER}/${release}/${name}`, 'utf8')) as Node);
    texts.set(name, known);
    return known;
  };
  const at = (value: unknown, name = 'sim-swap.yaml'): Node => {
    const node = Object(value) as Node;
    const { $ref } = node;
    if (typeof $ref !== 'string') return node;
    const [file = '', pointer = ''] = $ref.split('#');
    const other = file === '' ? name : basename(file);
    const members = pointer.split('/').slice(1);
    return at(
      members.reduce<unknown>((inside, member) => (Object(inside) as Node)[member], read(other)),
      other,
    );
  };
  const paths = Object(read('sim-swap.yaml')['paths']) as Node;
  const script: Node[] = [];
  await using operator = await RecordingServer.start((received, response) => {
    if (received.path.endsWith('/token')) {
      return answerJson(received, response, { access_token: 'issued', token_type: 'Bearer' });
    }
    const refusal = script.shift();
    if (refusal !== undefined)
      return answerJson(received, response, refusal, Number(refusal['status']));
    return answerJson(received, response, { swapped: false, latestSimChange: null });
  });
  await using service = await startService(operator.url);
  let lines = 0;
  const ask = async (field: string): Promise<string> => {
    lines += 1;
    const number = `+447700900${String(lines).padStart(3, '0')}`;
    const { codes } = await service.ask(`{ phoneNumber(e164: "${number}") { ${field} } }`);
    return codes[0] ?? 'no error';
  };
  const found: Finding[] = [];
  for (const { path, field } of OPERATIONS) {
    const post = at(at(paths[path])['post']);
    await ask(field);
    const sent = JSON.parse(operator.received.at(-1)?.body ?? '{}') as Node;
    const schema = contentOf(at(post['requestBody']))['schema'];
    const flaw = flawOf(schema, sent, at);
    found.push(finding(`${path}: our request`, flaw === undefined, `${flaw}`));
    for (const [status, response] of Object.entries(Object(post['responses']) as Node)) {
      if (status < '400') continue;
      const { examples } = contentOf(at(response));
      for (const [name, example] of Object.entries(Object(examples) as Node)) {
        const value = at(at(example)['value']);
        script.length = 0;
        script.push(value, value);
        const code = await ask(field);
        const expected = CODES[String(value['code'])];
        const failure = `${code}, not ${expected ?? 'a code that is known here'}`;
        found.push(finding(`${path}: ${status} ${name}`, code === expected, failure));
      }
    }
    script.length = 0;
  }
  return found;

  function contentOf(node: Node): Node {
    return at((Object(node['content']) as Node)['application/json']);
  }
}

/** Why a value is not of a schema, as far as these definitions go; `undefined` where it is. */
function flawOf(schema: unknown, value: unknown, at: (node: unknown) => Node): string | undefined {
  const { type, properties, required, pattern, minimum, maximum, allOf } = at(schema);
  const all = (Array.isArray(allOf) ? allOf : []).map((one) => flawOf(one, value, at));
  const own = (Array.isArray(required) ? required : []).map((name: string) =>
    name in Object(value) ? undefined : `lacks ${name}`,
  );
  const members = Object.entries(Object(properties) as Node).map(([name, one]) =>
    name in Object(value) ? flawOf(one, (value as Node)[name], at) : undefined,
  );
  const others = Object.keys(type === 'object' ? Object(value) : {}).map((name) =>
    name in Object(properties) ? undefined : `has ${name}`,
  );
  const isOfType =
    type === 'integer'
      ? Number.isInteger(value)
      : type === 'string'
        ? typeof value === 'string'
        : true;
  const bounds = [
    isOfType ? undefined : `is not of type ${String(type)}`,
    typeof pattern === 'string' && !new RegExp(pattern).test(String(value))
      ? 'does not match'
      : undefined,
    typeof minimum === 'number' && Number(value) < minimum ? 'is too small' : undefined,
    typeof maximum === 'number' && Number(value) > maximum ? 'is too large' : undefined,
  ];
  return [...all, ...own, ...members, ...others, ...bounds].find((flaw) => flaw !== undefined);
}
