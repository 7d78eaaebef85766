import { generateKeyPairSync, createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { exportJWK, type JSONWebKeySet } from 'jose';
import { parse } from 'jsonc-parser';
import type { OperatorEntry } from '../src/config/definition.ts';
import { DEMO_CLIENT } from '../simulator/simulator.ts';

/** The operators that profiles/ has a file for: each is a dialect of the simulator as well. */
export const PROFILES = [
  'vodafone',
  'orange',
  'telefonica',
  'kpn',
  'claro',
  'aggregator',
  'jwt-bearer',
] as const;

export type ProfileName = (typeof PROFILES)[number];

/** An operator of a profile, as far as it is filled in. */
export interface ProfileEntry {
  readonly name: string;
  readonly prefixes: readonly string[];
  readonly flow: OperatorEntry['flow'];
  readonly paths?: Readonly<Record<string, string>>;
  readonly client: { readonly method: string; readonly assertion?: object };
  readonly limits?: object;
}

/** The text of a profile. */
export function profileText(name: ProfileName): string {
  return readFileSync(new URL(`../profiles/${name}.jsonc`, import.meta.url), 'utf8');
}

/** The one operator of a profile, as it stands there. */
export function profileEntry(name: ProfileName): ProfileEntry {
  // A test starts the service with each of these files.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const file = parse(profileText(name)) as { readonly operators: readonly ProfileEntry[] };
  const [entry] = file.operators;
  if (entry === undefined) throw new Error(`The profile ${name} has no operator.`);
  return entry;
}

/** Where a simulator is. */
export interface ProfileAddresses {
  readonly authUrl: string;
  readonly simSwapUrl: string;
}

/**
 * The operator of a profile with what its owner fills in: addresses and credentials, and nothing else.
 * Secrets are in the variables of {@link PROFILE_SECRETS}.
 */
export function filledIn(name: ProfileName, { authUrl, simSwapUrl }: ProfileAddresses): object {
  const entry = profileEntry(name);
  const paths = Object.fromEntries(
    Object.entries(entry.paths ?? {}).map(([endpoint, path]) => [
      endpoint,
      path.replace('fill-in', 'simulated'),
    ]),
  );
  return { ...entry, authUrl, simSwapUrl, paths, client: clientOf(name, entry, authUrl) };
}

function clientOf(name: ProfileName, { client }: ProfileEntry, authUrl: string): object {
  const id = DEMO_CLIENT.clientId;
  if (client.assertion === undefined) {
    return { ...client, id, secret: { variable: 'PROFILE_SECRET' } };
  }
  const assertion = {
    ...client.assertion,
    key: { variable: 'PROFILE_KEY' },
    audience: name === 'jwt-bearer' ? `${authUrl}/oauth/v1/token` : authUrl,
  };
  return { ...client, id, assertion };
}

const KEY = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();

/** What the filled-in profiles point to. */
export const PROFILE_SECRETS = { PROFILE_SECRET: DEMO_CLIENT.clientSecret, PROFILE_KEY: KEY };

/** The public half of the key, for the simulator. */
export async function profileKeys(): Promise<JSONWebKeySet> {
  return { keys: [await exportJWK(createPublicKey(KEY))] };
}
