import { AstBuilder, compile, GherkinClassicTokenMatcher, Parser } from '@cucumber/gherkin';
import { IdGenerator, PickleStepType, type GherkinDocument, type Pickle } from '@cucumber/messages';
import type { DialectName } from '../simulator/dialects.ts';
import type { Line } from '../simulator/line.ts';
import type { Refusal } from '../simulator/refusals.ts';
import { startSimulator, type Simulator } from '../simulator/simulator.ts';
import { TEST_NUMBERS } from '../simulator/testNumbers.ts';
import {
  CHECK_SCOPE,
  DATE_SCOPE,
  poll,
  read,
  requestConsent,
  requestToken,
} from '../test/simulator/client.ts';
import {
  definitionOf,
  featuresOf,
  flawOf,
  NOT_HERE,
  RELEASES,
  versionOf,
  type Node,
} from './camaraTexts.ts';
import { versionsOf, type Finding, type Judge, type NotHere } from './judge.ts';

const START_MS = Date.UTC(2026, 0, 31);
const HOUR_MS = 3_600_000;
const TOKEN_LIFE_MS = 60_000;
const UNKNOWN_NUMBER = '+447700900099';
const CORRELATOR = 'b4333c46-49c0-4f62-80d7-f0ef930f1c46';

/** A text for people: a sentence, and not the code again. */
const FRIENDLY = /^[a-zA-Z][a-zA-Z]+ .+\.$/;

/** Values of which a schema decides which are flawed; above its maximum, a step of its own names the code. */
const FLAWED = [0, -1, 1.5, '24', true, '0044 7700 900004'];

/** The first releases have no scenarios. */
export const CAMARA_SCENARIO_JUDGES: readonly Judge[] = RELEASES.slice(3).map((release) => ({
  name: `CAMARA's scenarios of SIM Swap, ${release}`,
  version: [versionOf(release), versionsOf(['@cucumber/gherkin'])].join(', by '),
  form: 'short',
  judge: () => judgeScenarios(release),
}));

/** What the request shows for itself. */
type Shows = '2-legged' | '3-legged' | 'of another number' | 'expired' | 'invalid' | 'nothing';

/** A request as the steps of a scenario describe it, and its replies. */
interface Played {
  readonly simulator: Simulator;
  readonly clock: { nowMs: number };
  readonly schema: {
    /** Values that the schema, or a member of it, refuses. */
    readonly flawedBy: (pointer: string, member: string) => readonly unknown[];
    readonly flawBy: (pointer: string, value: unknown) => string | undefined;
  };
  operation: string;
  shows: Shows;
  /** Of all that the steps say of the line. */
  readonly mustBe: ((line: Line) => boolean)[];
  refusal: Refusal | undefined;
  /** In place of a test number's. */
  number: string | undefined;
  namesNumber: boolean | undefined;
  maxAge: ((line: Line) => unknown) | undefined;
  /** Each in place of a member of the body, in a request of its own. */
  variants: readonly Node[];
  line: Line;
  readonly replies: { status: number; headers: Headers; body: Node }[];
}

/** Does what a step says, and returns what is wrong with the replies. */
type Step = (
  played: Played,
  ...said: string[]
) => string | undefined | void | Promise<undefined | void>;

/** By what each step is, after the words in quotes. */
const STEPS: readonly (readonly [RegExp, Step])[] = [
  // The request.
  [
    /^the resource "[^"]*\/(check|retrieve-date)"$/,
    (played, operation = '') => {
      played.operation = operation;
    },
  ],
  [/^the header "Content-Type" is set to "application\/json"$/, () => undefined],
  [
    /^the header "x-correlator" (is set to a UUID value|complies with the schema at ".*")$/,
    () => undefined,
  ],
  [
    /^the request body is set (by default to a request body compliant with the schema|to a valid request body)$/,
    () => undefined,
  ],
  [/^the header "Authorization" is removed$/, showing('nothing')],
  [/^the header "Authorization" is set to an expired access token$/, showing('expired')],
  [/^the header "Authorization" is set to an invalid access token$/, showing('invalid')],
  [
    /^the header "Authorization" is set to a valid (2-legged access token|access token which does not identify a single phone number)$/,
    showing('2-legged'),
  ],
  [/^the header "Authorization" is set to a valid access token$/, () => undefined],
  [
    /^the header "Authorization" is set to a valid access token from which the phone number cannot be deducted$/,
    (played) => {
      played.namesNumber = false;
    },
  ],
  [
    /^the header "Authorization" is set to a valid access token identifying a phone ?number$/i,
    showing('3-legged'),
  ],
  [
    /^the header "Authorization" is set to a valid access token emitted for a different phone number$/,
    showing('of another number'),
  ],
  // The line.
  [
    /^a valid phone number identified by the token or provided in the request body$/,
    () => undefined,
  ],
  [
    /^the SIM for this phone number has been swapped$/,
    lines((line) => line.swappedHoursAgo !== undefined && line.withholdsDate !== true),
  ],
  [
    /^the SIM for this phone number has been swapped in the last "?(\d+)"?( hours)?$/,
    (played, hours) => {
      played.mustBe.push(({ swappedHoursAgo = Infinity }) => swappedHoursAgo <= Number(hours));
    },
  ],
  [
    /^the SIM for this phone number has been swapped more than (\d+) hours ago$/,
    (played, hours) => {
      played.mustBe.push(({ swappedHoursAgo = 0 }) => swappedHoursAgo > Number(hours));
    },
  ],
  [
    /^the SIM for this phone number has been swapped before the limited history window threshold$/,
    lines((line) => line.withholdsDate === true),
  ],
  [
    /^the SIM for this phone number has never been swapped$/,
    lines((line) => line.swappedHoursAgo === undefined && line.withholdsDate !== true),
  ],
  [
    /^the activation of the SIM occurred more than "?(\d+)"? hours ago$/,
    (played, hours) => {
      played.mustBe.push(({ activatedHoursAgo }) => activatedHoursAgo > Number(hours));
    },
  ],
  [/^that the service is not available for all phone numbers/, () => undefined],
  [
    /(a phone number for which the service is not available|for which the service is not applicable)$/,
    (played) => {
      played.refusal = 'line not served';
    },
  ],
  // The body.
  [
    /"\$?\.?maxAge" (?:request body property )?is set to a value equal or greater than "(\d+)"/,
    (played, hours) => {
      played.maxAge = () => Number(hours);
    },
  ],
  [
    /"\$?\.?maxAge" is set to a value less than "(\d+)"/,
    (played, hours) => {
      played.maxAge = () => Number(hours) - 1;
    },
  ],
  [
    /"\$?\.?maxAge" is set to the number of hours since the last SIM swap minus 1$/,
    (played) => {
      played.mustBe.push(({ swappedHoursAgo = 0 }) => swappedHoursAgo > 1);
      played.maxAge = ({ swappedHoursAgo = 0 }) => swappedHoursAgo - 1;
    },
  ],
  [/^the last swap for this phone number's SIM was more than "maxAge" hours ago$/, () => undefined],
  [
    /"\$\.maxAge" is set to (\d+)$/,
    (played, hours) => {
      played.maxAge = () => Number(hours);
    },
  ],
  [
    /"\$\.maxAge" is set to a valid value above the supported monitored period/,
    (played) => {
      played.mustBe.push(({ checksBackHours }) => checksBackHours !== undefined);
      played.maxAge = ({ checksBackHours = 0 }) => checksBackHours + 1;
    },
  ],
  [
    /"\$\.(maxAge|phoneNumber)" does not comply with the OAS schema at "(.*)"$/,
    (played, member = '', pointer = '') => {
      played.variants = played.schema
        .flawedBy(pointer, member)
        .map((value) => ({ [member]: value }));
    },
  ],
  [
    /"\$\.phoneNumber" is set to a valid (testing )?phone ?number( that does not match the one associated with the token)?$/i,
    (played, _valid, differsFromToken) => {
      played.namesNumber = true;
      if (differsFromToken !== undefined) played.shows = 'of another number';
    },
  ],
  [
    /"\$\.phoneNumber" is not (present|included)$/,
    (played) => {
      played.namesNumber = false;
    },
  ],
  [
    /"\$\.phoneNumber" is compliant with the schema but does not identify a valid phone number$/,
    (played) => {
      played.number = UNKNOWN_NUMBER;
    },
  ],
  [/^the request "(check|retrieve)SimSwap(Date)?" is sent$/, () => undefined],
  // The replies.
  [
    /^the response status code is "?(\d+)"?$/,
    each(({ status }, expected) => differs(status, Number(expected))),
  ],
  [
    /^the response header "Content-Type" is "(.*)"$/,
    each(({ headers }, expected) => differs(headers.get('content-type'), expected)),
  ],
  [
    /^the response header "x-correlator" has same value as the request header "x-correlator"$/,
    each(({ headers }) => differs(headers.get('x-correlator'), CORRELATOR)),
  ],
  [
    /^the response body complies with the OAS schema at "(.*)"$/,
    (played, pointer = '') =>
      first(played.replies.map(({ body }) => played.schema.flawBy(pointer, body))),
  ],
  [
    /^the (?:value of )?response property "\$\.(\w+)" (?:is|==) ("\w+"|\d+|null|true|false)$/,
    each(({ body }, member = '', value = '') => differs(body[member], JSON.parse(value))),
  ],
  [
    /^the response property "\$\.message" contains a user friendly text$/,
    each(({ body }) =>
      FRIENDLY.test(String(body['message'])) ? undefined : 'the message is not a sentence',
    ),
  ],
  [
    /^the response property "\$\.latestSimChange" contains (?:a valid|the sim's activation) timestamp$/,
    (played) => {
      const { swappedHoursAgo, activatedHoursAgo } = played.line;
      const expected = new Date(START_MS - (swappedHoursAgo ?? activatedHoursAgo) * HOUR_MS);
      return first(
        played.replies.map(({ body }) => differs(body['latestSimChange'], expected.toISOString())),
      );
    },
  ],
  [
    /^the response optionally contains the property "\$\.monitoredPeriod"/,
    each(({ body }) =>
      ['number', 'undefined'].includes(typeof body['monitoredPeriod'])
        ? undefined
        : 'is not a number',
    ),
  ],
  // What the simulator has not.
  [
    /^the phone number is not associated to any sim card$|has never been connected to the Operator's network$/,
    () => 'every line of the simulator has a SIM card',
  ],
  [
    /^the header "Authorization" is set to a valid 3-legged access token from which the phone number cannot be deducted$/,
    () => "the simulator's 3-legged tokens identify a number",
  ],
];

function showing(shows: Shows): Step {
  return (played) => {
    played.shows = shows;
  };
}

function lines(mustBe: (line: Line) => boolean): Step {
  return (played) => {
    played.mustBe.push(mustBe);
  };
}

function each(
  flaw: (reply: Played['replies'][number], ...said: string[]) => string | undefined,
): Step {
  return ({ replies }, ...said) => first(replies.map((reply) => flaw(reply, ...said)));
}

function first(flaws: readonly (string | undefined)[]): string | undefined {
  return flaws.find((flaw) => flaw !== undefined);
}

function differs(value: unknown, expected: unknown): string | undefined {
  return value === expected
    ? undefined
    : `${JSON.stringify(value)}, not ${JSON.stringify(expected)}`;
}

async function judgeScenarios(release: string): Promise<readonly Finding[] | NotHere> {
  const definition = definitionOf(release);
  const features = featuresOf(release);
  if (definition === undefined || features.length === 0) return NOT_HERE;
  const { at } = definition;
  const schemaAt = (pointer: string): Node =>
    at({ $ref: `sim-swap.yaml#${pointer.replace(/^#/, '')}` });
  const clock = { nowMs: START_MS };
  const dialect: DialectName = release.startsWith('r1') ? '1.0' : '2.1';
  const simulator = await startSimulator({ port: 0, dialect, nowMs: () => clock.nowMs });
  const schema = {
    flawBy: (pointer: string, value: unknown) => flawOf(schemaAt(pointer), value, at),
    flawedBy: (pointer: string, member: string) => {
      const whole = schemaAt(pointer);
      const own = (Object(whole['properties']) as Node)[member] ?? whole;
      return FLAWED.filter((value) => flawOf(own, value, at) !== undefined);
    },
  };
  const found: Finding[] = [];
  try {
    for (const feature of features) {
      const { pickles, alternatives, flaw } = readFeature(feature);
      if (flaw !== undefined) found.push({ about: feature.name, failure: flaw });
      const failures = new Map<Pickle, string | undefined>();
      for (const pickle of pickles) {
        clock.nowMs = START_MS;
        failures.set(pickle, await play(pickle, { simulator, clock, schema, ...fresh() }));
      }
      for (const [pickle, failure] of failures) {
        const about = tagOf(pickle);
        const other = pickles.find((one) => alternatives.has(`${about} ${tagOf(one)}`));
        const passesOtherwise = other !== undefined && failures.get(other) === undefined;
        found.push({ about, failure: passesOtherwise ? undefined : failure });
      }
    }
  } finally {
    await simulator.close();
  }
  return found;
}

/** Before a scenario's first step: a valid request about a number with a 2-legged token. */
function fresh(): Omit<Played, 'simulator' | 'clock' | 'schema'> {
  return {
    operation: '',
    shows: '2-legged',
    mustBe: [],
    refusal: undefined,
    number: undefined,
    namesNumber: undefined,
    maxAge: undefined,
    variants: [{}],
    line: { activatedHoursAgo: 0 },
    replies: [],
  };
}

/** Outlines as one scenario for each of their examples; of which two scenarios an operator does one, as "tag tag". */
function readFeature({ text }: { text: string }): {
  pickles: readonly Pickle[];
  alternatives: ReadonlySet<string>;
  flaw?: string;
} {
  const newId = IdGenerator.uuid();
  const parser = new Parser(new AstBuilder(newId), new GherkinClassicTokenMatcher());
  let document: GherkinDocument;
  try {
    document = parser.parse(text);
  } catch (error) {
    return { pickles: [], alternatives: new Set(), flaw: String(error) };
  }
  const tags = (document.feature?.children ?? []).flatMap(({ scenario }) => scenario?.tags ?? []);
  const alternatives = document.comments.flatMap(({ location, text: comment }) => {
    const [, other] = /alternative to scenario (@\S+)/.exec(comment) ?? [];
    const own = tags.findLast(({ location: { line } }) => line < location.line);
    if (own === undefined || other === undefined) return [];
    return [`${own.name} ${other}`, `${other} ${own.name}`];
  });
  return { pickles: compile(document, '', newId), alternatives: new Set(alternatives) };
}

function tagOf({ tags, name }: Pickle): string {
  return tags[0]?.name ?? name;
}

/** The first step that fails, and why. The request is sent once all steps before its outcome are known. */
async function play({ steps }: Pickle, played: Played): Promise<string | undefined> {
  for (const { text, type } of steps) {
    if (type === PickleStepType.OUTCOME && played.replies.length === 0) await send(played);
    const one = text.trim().replaceAll(/\s+/g, ' ');
    const known = STEPS.find(([pattern]) => pattern.test(one));
    if (known === undefined) return `no step is known for: ${one}`;
    const [pattern, step] = known;
    const [, ...said] = pattern.exec(one) ?? [];
    const failure = await step(played, ...said);
    if (failure !== undefined) return `${one}: ${failure}`;
  }
  return undefined;
}

async function send(played: Played): Promise<void> {
  const { simulator, clock, operation, shows, mustBe, refusal, maxAge } = played;
  const chosen = TEST_NUMBERS.find(({ line, lookup, token }) => {
    const refused = lookup?.fault.kind === 'refuse a lookup' ? lookup.fault.refusal : undefined;
    if (refused !== refusal || token !== undefined) return false;
    return (lookup === undefined || refused !== undefined) && mustBe.every((is) => is(line));
  });
  if (chosen === undefined) throw new Error('The simulator has no such test number.');
  played.line = chosen.line;
  for (const variant of played.variants) {
    const number = played.number ?? chosen.number;
    const token = await tokenThat(shows, simulator, operation, number);
    if (shows === 'expired') clock.nowMs += TOKEN_LIFE_MS;
    const names = played.namesNumber ?? shows !== '3-legged';
    const reply = await fetch(`${simulator.simSwapUrl}/${operation}`, {
      method: 'POST',
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        'content-type': 'application/json',
        'x-correlator': CORRELATOR,
      },
      body: JSON.stringify({
        ...(names ? { phoneNumber: number } : {}),
        ...(maxAge === undefined ? {} : { maxAge: maxAge(chosen.line) }),
        ...variant,
      }),
    });
    const body = (await reply.json()) as Node;
    played.replies.push({ status: reply.status, headers: reply.headers, body });
  }
}

async function tokenThat(
  shows: Shows,
  simulator: Simulator,
  operation: string,
  number: string,
): Promise<string | undefined> {
  const scope = operation === 'check' ? CHECK_SCOPE : DATE_SCOPE;
  switch (shows) {
    case 'nothing':
      return undefined;
    case 'invalid':
      return 'never-issued';
    case '3-legged': {
      const authReqId = await read(await requestConsent(simulator, number, scope), 'auth_req_id');
      return read(await poll(simulator, authReqId), 'access_token');
    }
    case 'of another number':
      return read(await requestToken(simulator, UNKNOWN_NUMBER, scope), 'access_token');
    case '2-legged':
    case 'expired':
      return read(await requestToken(simulator, number, scope), 'access_token');
  }
}
