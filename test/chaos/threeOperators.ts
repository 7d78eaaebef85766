import { ownProfile } from '../support/operatorEntry.ts';
import type { TemporaryFiles } from '../support/temporary.ts';
import type { ChaosContract } from './chaosOperator.ts';

/** What the settings of several operators can turn off. */
export const OPERATOR_GUARDS = ['longest-prefix', 'token-rule', 'token-end'] as const;

export type OperatorGuard = (typeof OPERATOR_GUARDS)[number];

/** One of three operators: its flow and token rule, as it applies them and as its settings say. */
interface ChaosMember {
  readonly name: string;
  readonly contract: Pick<ChaosContract, 'tokenUse' | 'tokenSeconds' | 'tellsExpiry'>;
  /** The share of its exchanges that fail; by the weights of the faults where absent. */
  readonly faultShare?: number;
  readonly entry: Readonly<Record<string, unknown>>;
  /** How its profile differs from the default one; `null` removes a member. */
  readonly profile?: object;
}

/** A lookup arrives within it while its token is valid. */
const MARGIN_SECONDS = 2;
const TOKEN_SECONDS = 4;

const TWO_LEGGED = { flow: '2-legged' };

/** Two flows and three token rules. The last fails most. */
export const MEMBERS: readonly ChaosMember[] = [
  {
    name: 'once',
    contract: { tokenUse: 'once', tokenSeconds: 60, tellsExpiry: true },
    entry: TWO_LEGGED,
  },
  {
    name: 'per-number',
    contract: { tokenUse: 'per-number', tokenSeconds: TOKEN_SECONDS, tellsExpiry: true },
    entry: {
      flow: '3-legged',
      tokens: { use: 'per-number' },
    },
    profile: { tokens: { marginSeconds: MARGIN_SECONDS } },
  },
  {
    name: 'any-number',
    contract: { tokenUse: 'any-number', tokenSeconds: TOKEN_SECONDS, tellsExpiry: false },
    faultShare: 0.45,
    entry: {
      ...TWO_LEGGED,
      tokens: { use: 'any-number' },
    },
    profile: {
      grants: { '2-legged': { username: null } },
      tokens: { marginSeconds: MARGIN_SECONDS, defaultLifetimeSeconds: TOKEN_SECONDS },
    },
  },
];

/** The areas whose lines swap during a run are divided among the operators by a longer prefix. */
const DIVIDED_AREA = /^\+1(99\d)55501(\d)/;

/** The operator of a number, by the plan of this run, without prefixes. */
export function ownerOf(number: string): string {
  const [, , tens] = DIVIDED_AREA.exec(number) ?? [];
  return memberAt(Number(tens ?? number.charAt(2))).name;
}

function memberAt(digit: number): ChaosMember {
  const member = MEMBERS[digit % MEMBERS.length];
  if (member === undefined) throw new Error('A number begins with +1 and a digit.');
  return member;
}

function prefixesOf(name: string, without: unknown): readonly string[] {
  const digits = Array.from({ length: 10 }, (_, digit) => digit);
  const short = digits.filter((digit) => digit >= 2).map((digit) => `+1${digit}`);
  const long = digits.flatMap((area) => digits.map((tens) => `+199${area}55501${tens}`));
  const own = (prefix: string): boolean => memberAt(Number(prefix.at(-1))).name === name;
  return [...short.filter(own), ...(without === 'longest-prefix' ? [] : long.filter(own))];
}

/** The file of operators, by the addresses of its members; their profiles are written beside it. */
export function operatorsFile(
  urls: ReadonlyMap<string, string>,
  common: object,
  without: unknown,
  files: TemporaryFiles,
): object {
  for (const { name, profile } of MEMBERS) {
    files.write(`${name}.mjs`, ownProfile({ ...profile, ...weakenedProfile(name, without) }));
  }
  return {
    operators: MEMBERS.map(({ name, entry }) => ({
      name,
      profile: `./${name}.mjs`,
      prefixes: prefixesOf(name, without),
      authUrl: urls.get(name),
      simSwapUrl: urls.get(name),
      client: { method: 'basic', id: 'long-run', secret: { variable: 'CHAOS_SECRET' } },
      ...common,
      ...entry,
      ...weakened(name, without),
    })),
  };
}

function weakened(name: string, without: unknown): object {
  if (without === 'token-rule' && name === 'once') return { tokens: { use: 'per-number' } };
  return {};
}

function weakenedProfile(name: string, without: unknown): object {
  return without === 'token-end' && name === 'any-number'
    ? { tokens: { marginSeconds: 5, defaultLifetimeSeconds: 3600 } }
    : {};
}
