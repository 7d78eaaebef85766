import type { AuditSettings } from '../caller/audit/auditLog.ts';
import { createSchema } from '../graphql/schema.ts';
import type { Role } from '../graphql/typeDefs.ts';
import {
  judgeDocuments,
  readManifest,
  type TrustedDocuments,
} from '../graphql/trustedDocuments.ts';
import type { Steps } from '../system/fromFiles.ts';
import { fail } from '../system/termination.ts';
import { readAudit, readPurposes } from './callers.ts';
import { configOf, type Config } from './configOf.ts';
import { readEgress } from './egress.ts';
import { ConfigError, EnvironmentReader, type Environment } from './environment.ts';
import { readOperators } from './operators.ts';
import { readPrices } from './operatorsFile.ts';

export type { Config } from './configOf.ts';

/* What each program reads; nothing else reads the environment. Each throws a ConfigError with every problem by name. */

/** Ends the program with the message of a ConfigError. */
export function readOrFail<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof ConfigError) return fail(error.message);
    throw error;
  }
}

/** @param operators an object with the members of OPERATORS_FILE, instead of the file */
export function readConfig(environment: Environment = process.env, operators?: object): Config {
  return configOf(new EnvironmentReader(environment), operators, documentsReader());
}

export function readAuditConfig(environment: Environment = process.env): AuditSettings | undefined {
  return allOf(environment, (read) => readAudit(read, 'a search needs it'));
}

/** Reads only the operators and purposes, to check them before the other settings exist. */
export function readOperatorsConfig(environment: Environment = process.env, handedIn?: object) {
  return allOf(environment, (read) => ({
    purposes: readPurposes(read),
    ...readOperators(read, false, readEgress(read), handedIn),
  }));
}

export function readUsageConfig(environment: Environment = process.env) {
  return allOf(environment, (read) => ({
    auditLog: read.value('AUDIT_LOG'),
    ...readPrices(read),
  }));
}

function allOf<T>(environment: Environment, make: (read: EnvironmentReader) => T): T {
  const read = new EnvironmentReader(environment);
  const value = make(read);
  read.finish();
  return value;
}

/** Reads TRUSTED_DOCUMENTS; where they have changed, it judges only those that are new. */
function documentsReader() {
  let known: TrustedDocuments = new Map();
  return function* (read: EnvironmentReader, role: Role): Steps<TrustedDocuments | undefined> {
    const name = 'TRUSTED_DOCUMENTS';
    if (!read.isSet(name)) return undefined;
    if (role === 'subgraph') {
      read.problem(name, 'is for ROLE=bff: a router writes documents of its own');
      return undefined;
    }
    const text = read.file(name);
    if (text === undefined) return undefined;
    const manifest = readManifest(text);
    if (manifest === undefined) {
      read.problem(name, "names a file that is not a manifest of Apollo's or of GraphQL Codegen's");
      return undefined;
    }
    yield;
    const { documents, flaws } = yield* judgeDocuments(manifest, createSchema(role), known);
    for (const flaw of flaws) {
      read.problem(name, `has a document that cannot be served: ${flaw}`);
      yield;
    }
    if (flaws.length === 0) known = documents;
    return documents;
  };
}
