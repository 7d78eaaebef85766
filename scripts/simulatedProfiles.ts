import { generateKeyPairSync, createPublicKey } from 'node:crypto';
import { exportJWK, type JSONWebKeySet } from 'jose';
import { camara } from '../profiles/camara.ts';
import { PROFILES as MAKERS } from '../profiles/index.ts';
import { flowsOf } from '../src/config/entrySettings.ts';
import type { Flow } from '../src/tokens/authorizationSettings.ts';
import type { DialectName } from '../simulator/dialects.ts';
import { DEMO_CLIENT } from '../simulator/simulator.ts';

/** The simulator's dialects of operators, each with the profile for it, in each flow. */
const PROFILE_OF = {
  camara: 'camara',
  'camara, 2-legged': 'camara',
  vodafone: 'vodafone-marketplace',
  orange: 'orange',
  telefonica: 'telefonica',
  kpn: 'kpn',
  claro: 'claro',
  aggregator: 'aggregator-in',
  'jwt-bearer': 'camara-jwt-bearer',
} as const satisfies Readonly<Record<string, keyof typeof MAKERS>>;

export type ProfileName = keyof typeof PROFILE_OF;

/** In the order in which they are printed. */
export const PROFILES: readonly ProfileName[] = [
  'camara',
  'camara, 2-legged',
  'vodafone',
  'orange',
  'telefonica',
  'kpn',
  'claro',
  'aggregator',
  'jwt-bearer',
];

export function flowOfProfile(name: ProfileName): Flow {
  if (name === 'camara') return '3-legged';
  return flowsOf(MAKERS[PROFILE_OF[name]](camara))[0] ?? '2-legged';
}

export function dialectOfProfile(name: ProfileName): DialectName {
  return name === 'camara, 2-legged' ? 'camara' : name;
}

/** The addresses of a simulator. */
export interface ProfileAddresses {
  readonly authUrl: string;
  readonly simSwapUrl: string;
}

/**
 * An entry with what its owner fills in: the profile, addresses and credentials, and nothing else. Secrets are in the
 * variables of {@link PROFILE_SECRETS}.
 */
export function filledIn(name: ProfileName, { authUrl, simSwapUrl }: ProfileAddresses) {
  const dialect = dialectOfProfile(name);
  const usesKey = dialect === 'camara' || dialect === 'orange' || dialect === 'jwt-bearer';
  return {
    name: dialect,
    profile: PROFILE_OF[name],
    prefixes: ['default'],
    ...(dialect === 'camara' ? { flow: flowOfProfile(name) } : {}),
    authUrl,
    simSwapUrl,
    client: {
      id: DEMO_CLIENT.clientId,
      ...(usesKey
        ? { key: { variable: 'PROFILE_KEY' } }
        : { secret: { variable: 'PROFILE_SECRET' } }),
    },
    options: OPTIONS[name] ?? {},
  };
}

const OPTIONS: Readonly<Partial<Record<ProfileName, object>>> = {
  vodafone: { businessPartner: 'Simulated' },
  aggregator: { realm: 'simulated' },
};

const KEY = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();

/** The secrets that the filled-in profiles refer to. */
export const PROFILE_SECRETS = { PROFILE_SECRET: DEMO_CLIENT.clientSecret, PROFILE_KEY: KEY };

/** The public half of the key, for the simulator. */
export async function profileKeys(): Promise<JSONWebKeySet> {
  return { keys: [await exportJWK(createPublicKey(KEY))] };
}
