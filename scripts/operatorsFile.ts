import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { camara } from '../profiles/camara.ts';
import { PROFILES } from '../profiles/index.ts';
import { operatorsFile } from '../src/config/definition.ts';
import { pretty, type MadeFile } from './madeFile.ts';

interface JsonSchema {
  readonly $ref?: string;
  readonly definitions?: Readonly<Record<string, JsonSchema>>;
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  /** For one schema, which also has its own description. */
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

const SCHEMA = fileURLToPath(new URL('../schema/operators.schema.json', import.meta.url));

const MEMBERS = fileURLToPath(new URL('../docs/api/operators-file.md', import.meta.url));

/** Makes the JSON Schema for editors, and the page of all members and of the papers of the profiles. */
export async function makeFiles(): Promise<readonly MadeFile[]> {
  const schema = jsonSchema();
  return [
    { path: SCHEMA, text: await pretty(JSON.stringify(schema), SCHEMA) },
    { path: MEMBERS, text: await pretty(membersPage(schema), MEMBERS) },
  ];
}

function membersPage(schema: JsonSchema): string {
  return `# The operators' file

All members of the file that \`OPERATORS_FILE\` names; [operators.md](../operators.md) says how to write one. Members without a prefix are those of an entry of \`operators\`. A secret is \`{ "file": … }\` or \`{ "variable": … }\`.

${membersTable(schema)}

## Papers

What each profile was written from, and when it was last compared with it.

${papersTable()}
`;
}

function papersTable(): string {
  const rows = Object.entries(PROFILES).map(([name, make]) => {
    const { papers } = make(camara);
    const titles = papers.map(({ title, version }) => [title, version].join(' ').trim());
    return `| [${name}](../../profiles/${name}.ts) | ${titles.join('; ')} | ${papers[0]?.readOn} |`;
  });
  return ['| profile | papers | read |', '| --- | --- | --- |', ...rows].join('\n');
}

/** The schema itself, or its variants, with references followed. Pure. */
function variantsOf(root: JsonSchema, schema: JsonSchema): readonly JsonSchema[] {
  const named = root.definitions?.[schema.$ref?.replace('#/definitions/', '') ?? ''];
  if (named !== undefined) return variantsOf(root, named);
  const variants = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  return variants === undefined ? [schema] : variants.flatMap((one) => variantsOf(root, one));
}

function membersOf({ properties = {} }: JsonSchema): Readonly<Record<string, JsonSchema>> {
  return properties;
}

/** One row for each member, in the order of the definition. */
function membersTable(root: JsonSchema): string {
  return rowsOf(root, root, '')
    .map(([member, kind, fallback, meaning]) => {
      const notes = [kind, fallback].filter((one) => one !== '').join('; ');
      return `- ${member} (${notes})${meaning === '' ? '' : `: ${meaning}`}`;
    })
    .join('\n');
}

type Row = readonly [member: string, takes: string, fallback: string, meaning: string];

function rowsOf(root: JsonSchema, owner: JsonSchema, prefix: string): readonly Row[] {
  return membersOfAll(variantsOf(root, owner)).flatMap(({ name, schema, isRequired, only }) => {
    const member = `${prefix}${name}`;
    const meaning = (schema.description ?? '') + (only === '' ? '' : ` (${only})`);
    const given = defaultOf(schema);
    const fallback = isRequired ? 'needed' : given === '' ? '' : `${given} where absent`;
    const row: Row = [`\`${member}\``, takes(root, schema), fallback, meaning];
    return [row, ...rowsBelow(root, schema, member)];
  });
}

function rowsBelow(root: JsonSchema, schema: JsonSchema, member: string): readonly Row[] {
  if (isSecret(schema)) return [];
  const [only] = variantsOf(root, schema);
  // The operators are the main part: their members have a table of their own.
  if (member === 'operators' && only?.items !== undefined) return rowsOf(root, only.items, '');
  if (only?.items !== undefined) return rowsBelow(root, only.items, `${member}[]`);
  return isOnlyObject(root, schema) ? rowsOf(root, schema, `${member}.`) : [];
}

interface Member {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
  /** The variants that have it, where others do not. */
  readonly only: string;
}

/** The members of an object, or of all its variants. */
function membersOfAll(variants: readonly JsonSchema[]): readonly Member[] {
  const names = new Set(variants.flatMap((one) => Object.keys(membersOf(one))));
  return Array.from(names, (name) => {
    const having = variants.filter((one) => name in membersOf(one));
    const schemas = having.flatMap((one) => membersOf(one)[name] ?? []);
    const [schema = {}] = schemas;
    const isRequired = variants.every((one) => one.required?.includes(name) === true);
    if (schema.const !== undefined) {
      // What distinguishes the variants.
      const all = schemas.map((one) => one.const);
      return { name, schema: { enum: all }, isRequired, only: '' };
    }
    const only = having.length === variants.length ? '' : having.map(variantName).join(', ');
    return { name, schema, isRequired, only };
  });
}

function variantName(variant: JsonSchema): string {
  const constant = Object.values(membersOf(variant)).find((one) => one.const !== undefined);
  return `\`${String(constant?.const)}\``;
}

function takes(root: JsonSchema, schema: JsonSchema): string {
  if (isSecret(schema)) return 'a secret';
  if (schema.$ref !== undefined || schema.allOf !== undefined) {
    const [named = {}] = variantsOf(root, schema);
    return takes(root, named);
  }
  const variants = schema.anyOf ?? schema.oneOf;
  if (variants !== undefined) {
    return [...new Set(variants.map((one) => takes(root, one)))].join(', or ');
  }
  if (schema.enum !== undefined) return schema.enum.map(code).join(', ');
  if (schema.const !== undefined) return code(schema.const);
  return takesOfType(root, schema);
}

function takesOfType(root: JsonSchema, schema: JsonSchema): string {
  switch (schema.type) {
    case 'integer':
      return `${schema.minimum ?? 0} to ${schema.maximum ?? 'any'}`;
    case 'boolean':
      return '`true`, `false`';
    case 'string':
      return 'a text';
    case 'null':
      return '`null`';
    case 'array':
      return `a list of ${schema.items === undefined ? 'texts' : takes(root, schema.items)}`;
    case 'object':
      return 'an object';
    case undefined:
    default:
      return '';
  }
}

function defaultOf(schema: JsonSchema): string {
  const { default: value } = schema;
  // The defaults of an object are those of its members.
  return value === undefined || JSON.stringify(value) === '{}' ? '' : code(value);
}

function code(value: unknown): string {
  return `\`${JSON.stringify(value)}\``;
}

function isSecret({ $ref, allOf = [] }: JsonSchema): boolean {
  return $ref === '#/definitions/secret' || allOf.some(isSecret);
}

/** Whether it is an object, or one of several, and nothing else. */
function isOnlyObject(root: JsonSchema, schema: JsonSchema): boolean {
  return variantsOf(root, schema).every(({ properties }) => properties !== undefined);
}
