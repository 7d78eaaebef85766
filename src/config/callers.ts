import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import type { AuditSettings } from '../caller/audit/auditLog.ts';
import type { CallerSettings, IssuerSettings } from '../caller/caller.ts';
import { NO_PURPOSE, purposesOf } from '../domain/identity.ts';
import { DEVELOPMENT_TOKENS } from '../caller/developmentTokens.ts';
import type { QuotaSettings } from '../caller/quotas/quotas.ts';
import type { Role } from '../graphql/typeDefs.ts';
import { parsed, readDocument, sentence } from './document.ts';
import { egressTo, type Egress } from './egress.ts';
import type { EnvironmentReader } from './environment.ts';
import { MAX_QUOTA } from './settings.ts';

/** The length of a secret of our own choice: 24 random bytes in base64. */
const MIN_SECRET_CHARACTERS = 32;

const TOKEN_NAMES = ['JWT_JWKS_URL', 'JWT_ISSUER', 'JWT_AUDIENCE'] as const;

const FOR_KNOWN_CALLERS =
  'is for callers with a token: set JWT_JWKS_URL, JWT_ISSUER and JWT_AUDIENCE';

/**
 * @param exposure why others can reach the server, where they can; then every setting is required
 * @param isEmbedded whether another program knows its callers
 */
export function readCallers(
  read: EnvironmentReader,
  role: Role,
  exposure: string | undefined,
  isEmbedded: boolean,
  egress: Egress,
): CallerSettings {
  const batchScope = read.value('BATCH_SCOPE');
  const tokens = readTokens(read, exposure, egress);
  if (read.isSet('BATCH_SCOPE') && tokens === undefined && !isEmbedded) {
    read.problem('BATCH_SCOPE', FOR_KNOWN_CALLERS);
  }
  const purposes = readPurposes(read);
  const routerSecrets = readRouterSecrets(read, role, exposure);
  return { tokens, batchScope, routerSecrets, purposes };
}

export function readPurposes(read: EnvironmentReader): CallerSettings['purposes'] {
  const name = 'PURPOSES';
  const [first = NO_PURPOSE, ...others] = purposesOf(read.value(name));
  const names = [first, ...others].map((one) => one.name);
  if (new Set(names).size < names.length) read.problem(name, 'names a purpose twice');
  return [first, ...others];
}

function readTokens(
  read: EnvironmentReader,
  exposure: string | undefined,
  egress: Egress,
): IssuerSettings | undefined {
  const isAnySet = TOKEN_NAMES.some((name) => read.isSet(name));
  if (read.value('DEV_TOKENS')) {
    if (isAnySet)
      read.problem('DEV_TOKENS', 'cannot be set together with JWT_…: tokens come from one issuer');
    return DEVELOPMENT_TOKENS;
  }
  if (!isAnySet && exposure === undefined) return undefined;
  const why = exposure ?? 'JWT_JWKS_URL, JWT_ISSUER and JWT_AUDIENCE must be set together';
  for (const name of TOKEN_NAMES) {
    if (!read.isSet(name)) read.problem(name, `is missing: ${why}`);
  }
  const jwksUrl = read.value('JWT_JWKS_URL') ?? '';
  return {
    jwksUrl,
    jwksConnection: egressTo(egress, jwksUrl),
    issuer: read.value('JWT_ISSUER') ?? '',
    audience: read.value('JWT_AUDIENCE') ?? '',
  };
}

/** Two secrets are accepted during a rotation. */
function readRouterSecrets(
  read: EnvironmentReader,
  role: Role,
  exposure: string | undefined,
): readonly string[] {
  const name = 'ROUTER_SECRET';
  const secret = read.secret(name);
  const secrets = (secret ?? '').split(',').flatMap((one) => one.trim() || []);
  if (role !== 'subgraph') {
    if (secrets.length > 0)
      read.problem(name, 'is for ROLE=subgraph: a BFF has no router before it');
    return [];
  }
  if (exposure !== undefined) read.requireSecret(name, exposure);
  if (secrets.length === 0 && secret !== undefined) {
    read.problem(name, 'is set but holds no secret');
  }
  if (secrets.length > 2) read.problem(name, 'must hold two secrets at most');
  if (secrets.some((one) => one.length < MIN_SECRET_CHARACTERS || !/^[\x21-\x7e]+$/.test(one))) {
    const what = `must have at least ${MIN_SECRET_CHARACTERS} characters in each secret`;
    read.problem(name, `${what}: letters, digits and signs that a header can carry`);
  }
  return secrets;
}

/** The audit log; `undefined` where there is none, on loopback only. */
export function readAudit(
  read: EnvironmentReader,
  exposure: string | undefined,
): AuditSettings | undefined {
  const file = read.value('AUDIT_LOG');
  const secret = read.secret('AUDIT_KEY');
  if (exposure !== undefined || file !== undefined) {
    read.requireSecret('AUDIT_KEY', exposure ?? 'AUDIT_LOG needs it');
  }
  if (secret === undefined) return undefined;
  const [first = '', ...previous] = secret.split(',').map((key) => key.trim());
  if ([first, ...previous].some((key) => key.length < MIN_SECRET_CHARACTERS)) {
    read.problem('AUDIT_KEY', `must have at least ${MIN_SECRET_CHARACTERS} characters in each key`);
  }
  if (file !== undefined && !canAppendTo(file)) {
    read.problem('AUDIT_LOG', 'names a file that cannot be written');
  }
  return { keys: [first, ...previous], file };
}

/** Checked at the start, not at the first lookup. Leaves no file behind. */
function canAppendTo(file: string): boolean {
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    accessSync(found === undefined ? dirname(file) : file, constants.W_OK);
    return found?.isDirectory() !== true;
  } catch {
    return false;
  }
}

export function readQuotas(read: EnvironmentReader, areCallersKnown: boolean): QuotaSettings {
  const clients = readClientQuotas(read);
  if (clients.size > 0 && !areCallersKnown) read.problem('QUOTA_CLIENTS', FOR_KNOWN_CALLERS);
  return {
    numbersPerHour: read.value('QUOTA_NUMBERS_PER_HOUR'),
    lookupsPerHour: read.value('QUOTA_LOOKUPS_PER_HOUR'),
    promptsPerHour: read.value('QUOTA_PROMPTS_PER_HOUR'),
    promptsPerHourAllCallers: read.value('QUOTA_PROMPTS_PER_HOUR_ALL_CALLERS'),
    clients,
  };
}

const quota = z.exactOptional(z.int().min(1).max(MAX_QUOTA));
const clientQuotas = z.strictObject({
  numbersPerHour: quota,
  lookupsPerHour: quota,
  promptsPerHour: quota,
});
/** Keyed by client id. zod would ignore a member `__proto__`. */
const clientIds = z.record(z.string().min(1, 'must be the id of a client'), z.unknown());

function readClientQuotas(read: EnvironmentReader): QuotaSettings['clients'] {
  const name = 'QUOTA_CLIENTS';
  const document = readDocument(read.value(name));
  const problems = [...document.problems];
  if (problems.length === 0) problems.push(...parsed(clientIds, document.value).problems);
  const clients = Object.entries(Object(document.value)).map(([client, value]) => {
    const { data, problems: inQuotas } = parsed(clientQuotas, value);
    problems.push(...inQuotas.map(({ path, what }) => ({ path: [client, ...path], what })));
    if (isDeepStrictEqual(data, {})) problems.push({ path: [client], what: 'sets no quota' });
    return [client, data ?? {}] as const;
  });
  for (const problem of problems) read.problem(name, sentence(problem));
  return new Map(clients);
}
