import * as z from 'zod';
import { operatorsFile } from './definition.ts';
import type { Path } from './document.ts';

export interface JsonSchema {
  readonly $ref?: string;
  readonly definitions?: Readonly<Record<string, JsonSchema>>;
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  /** Of one schema, which stands beside a description of its own. */
  readonly allOf?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** The JSON Schema of OPERATORS_FILE, in the draft that editors know best. */
export function jsonSchema(): JsonSchema {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what zod makes is wider than what is read of it
  return z.toJSONSchema(operatorsFile, { target: 'draft-07', io: 'input' }) as JsonSchema;
}

/** The schemas of the objects that may stand at a path: several where there are variants. Pure. */
export function objectsAt(root: JsonSchema, path: Path): readonly JsonSchema[] {
  let schemas = variantsOf(root, root);
  for (const part of path) {
    schemas = schemas.flatMap((schema) => {
      const { items, additionalProperties: others } = schema;
      const next = typeof part === 'number' ? items : (membersOf(schema)[part] ?? others);
      return typeof next === 'object' ? variantsOf(root, next) : [];
    });
  }
  return schemas.filter(({ properties }) => properties !== undefined);
}

/** The schema itself, or what it may be one of, references followed. Pure. */
export function variantsOf(root: JsonSchema, schema: JsonSchema): readonly JsonSchema[] {
  const named = root.definitions?.[schema.$ref?.replace('#/definitions/', '') ?? ''];
  if (named !== undefined) return variantsOf(root, named);
  const variants = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  return variants === undefined ? [schema] : variants.flatMap((one) => variantsOf(root, one));
}

export function membersOf({ properties = {} }: JsonSchema): Readonly<Record<string, JsonSchema>> {
  return properties;
}
