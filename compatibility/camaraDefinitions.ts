import { answerJson, RecordingServer } from '../test/wire/recordingServer.ts';
import { startService } from '../test/support/service.ts';
import {
  definitionOf,
  flawOf,
  NOT_HERE,
  RELEASES,
  versionOf,
  type Definition,
  type Node,
  type Resolve,
} from './camaraTexts.ts';
import { finding, type Finding, type Judge, type NotHere } from './judge.ts';

interface Operation {
  readonly path: '/check' | '/retrieve-date';
  readonly field: string;
}

const OPERATIONS: readonly Operation[] = [
  { path: '/check', field: 'simSwappedWithin(maxAgeHours: 240)' },
  { path: '/retrieve-date', field: 'lastSimSwap' },
];

type Flow = '2-legged' | '3-legged';

/**
 * What a client must get for a refusal: CAMARA's description of its code, beside what docs/errors.md says that a client can
 * do. Read, not run: a code that is not here fails.
 */
function expectedFor(code: unknown, { path }: Operation, flow: Flow): string | undefined {
  switch (code) {
    // The phone number is unknown, or of a line that the service is not for: "use another way to authenticate".
    case 'NOT_FOUND':
    case 'NOT_SUPPORTED':
    case 'SERVICE_NOT_APPLICABLE':
    case 'SIM_SWAP.UNKNOWN_PHONE_NUMBER':
      return 'NUMBER_NOT_SERVED';
    // "A given field has a pre-defined range": only maxAge has one, so only there "query fewer hours" can help.
    case 'OUT_OF_RANGE':
      return path === '/check' ? 'PERIOD_NOT_SUPPORTED' : 'OPERATOR_REFUSED';
    // "New authentication is needed": of the owner, where the token is by the owner's consent.
    case 'AUTHENTICATION_REQUIRED':
      return flow === '3-legged' ? 'CONSENT_EXPIRED' : 'OPERATOR_REFUSED';
    // Our syntax, credentials, scopes, or how we identify the number: "the platform team has to fix this".
    case 'INVALID_ARGUMENT':
    case 'UNAUTHENTICATED':
    case 'PERMISSION_DENIED':
    case 'INVALID_TOKEN_CONTEXT':
    case 'UNIDENTIFIABLE_PHONE_NUMBER':
    case 'MISSING_IDENTIFIER':
    case 'UNNECESSARY_IDENTIFIER':
      return 'OPERATOR_REFUSED';
    // A "business quota limit", or the "request rate limit": "retry after `retryAfterSeconds`".
    case 'QUOTA_EXCEEDED':
    case 'TOO_MANY_REQUESTS':
      return 'OPERATOR_RATE_LIMITED';
    // A server's fault, or another request about the number under way: "try again later". A 504 is a reply, in time for us.
    case 'CONFLICT':
    case 'INTERNAL':
    case 'UNAVAILABLE':
    case 'TIMEOUT':
      return 'OPERATOR_UNAVAILABLE';
    default:
      return undefined;
  }
}

export const CAMARA_DEFINITION_JUDGES: readonly Judge[] = RELEASES.map((release) => ({
  name: `CAMARA's definition of SIM Swap, ${release}`,
  version: versionOf(release),
  form: 'short',
  judge: () => judgeRelease(release),
}));

interface Refusal {
  readonly operation: Operation;
  readonly name: string;
  readonly value: Node;
  readonly number: string;
}

/** Our requests are what it defines, and each refusal that it has an example of becomes the right error, in both flows. */
async function judgeRelease(release: string): Promise<readonly Finding[] | NotHere> {
  const definition = definitionOf(release);
  if (definition === undefined) return NOT_HERE;
  const found: Finding[] = [];
  for (const flow of ['2-legged', '3-legged'] as const) {
    found.push(...(await judgeFlow(definition, flow)));
  }
  return found;
}

async function judgeFlow({ root, at }: Definition, flow: Flow): Promise<readonly Finding[]> {
  const refusals = refusalsOf({ root, at });
  await using operator = await RecordingServer.start((received, response) => {
    const { authorization = '' } = received.headers;
    const [number] =
      /[+]447700900\d{3}/.exec(`${decodeURIComponent(received.body)} ${authorization}`) ?? [];
    if (received.path.endsWith('/bc-authorize')) {
      return answerJson(received, response, { auth_req_id: number, expires_in: 60, interval: 0 });
    }
    if (received.path.endsWith('/token')) {
      return answerJson(received, response, {
        access_token: number,
        token_type: 'Bearer',
        expires_in: 60,
      });
    }
    const refusal = refusals.find((one) => one.number === number);
    if (refusal === undefined) {
      return answerJson(received, response, { swapped: false, latestSimChange: null });
    }
    return answerJson(received, response, refusal.value, Number(refusal.value['status']));
  });
  await using service = await startService(operator.url, { OPERATOR_FLOW: flow });
  const found: Finding[] = [];
  for (const { path, field } of OPERATIONS) {
    await service.ask(`{ phoneNumber(e164: "${UNREFUSED}") { ${field} } }`);
    const sent = JSON.parse(operator.received.at(-1)?.body ?? '{}') as Node;
    const { requestBody } = at(at(Object(root['paths'] as Node)[path])['post']);
    const flaw = flawOf(contentOf(at(requestBody), at)['schema'], sent, at);
    found.push(finding(`${flow}, ${path}: our request`, flaw === undefined, `${flaw}`));
  }
  // All at once: no refusal of one number keeps the owner of another from being prompted.
  const codes = await Promise.all(
    refusals.map(async ({ operation: { field }, number }) => {
      const reply = await service.ask(`{ phoneNumber(e164: "${number}") { ${field} } }`);
      return reply.codes[0] ?? 'no error';
    }),
  );
  for (const [index, { operation, name, value }] of refusals.entries()) {
    const expected = expectedFor(value['code'], operation, flow);
    const failure = `${codes[index]}, not ${expected ?? 'a code that is known here'}`;
    found.push(finding(`${flow}, ${operation.path}: ${name}`, codes[index] === expected, failure));
  }
  return found;
}

const UNREFUSED = '+447700900999';

/** Each of its examples of a refusal, with a number of its own. */
function refusalsOf({ root, at }: Definition): readonly Refusal[] {
  const refusals: Refusal[] = [];
  for (const operation of OPERATIONS) {
    const { responses } = at(at(Object(root['paths'] as Node)[operation.path])['post']);
    for (const [status, response] of Object.entries(Object(responses) as Node)) {
      if (status < '400') continue;
      const { examples, example } = contentOf(at(response), at);
      const named = example === undefined ? Object(examples) : { example: { value: example } };
      for (const [name, one] of Object.entries(named as Node)) {
        const value = at(at(one)['value']);
        const number = `+447700900${String(refusals.length).padStart(3, '0')}`;
        refusals.push({ operation, name: `${status} ${name}`, value, number });
      }
    }
  }
  return refusals;
}

function contentOf(node: Node, at: Resolve): Node {
  return at((Object(node['content']) as Node)['application/json']);
}
