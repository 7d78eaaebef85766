import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import type { NotHere } from './judge.ts';

/** The releases of camaraproject/SimSwap, oldest first. */
export const RELEASES = 'v0.4.0 r1.1 r1.2 r1.3 r1.4 r2.1 r2.2 r3.1 r3.2 r3.3 main'.split(' ');

const FOLDER =
  process.env['CAMARA_TEXTS'] ?? fileURLToPath(new URL('../../shared/camara', import.meta.url));

export const NOT_HERE: NotHere = {
  notHere:
    'Set CAMARA_TEXTS to a folder with a folder for each release of camaraproject/SimSwap, such as r3.3/sim-swap.yaml, or put it at ../shared/camara.',
};

/** An object of a definition. */
export type Node = Readonly<Record<string, unknown>>;

/** Follows `$ref`, also into the other texts of a release. */
export type Resolve = (value: unknown) => Node;

/** A release's `sim-swap.yaml`, and how its references are followed. */
export interface Definition {
  readonly root: Node;
  readonly at: Resolve;
}

/** `undefined` where it is not here. */
export function definitionOf(release: string): Definition | undefined {
  if (!existsSync(fileOf(release))) return undefined;
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
  return { root: read('sim-swap.yaml'), at: (value) => at(value) };
}

/** A release's files of scenarios; none where it has none, or is not here. */
export function featuresOf(release: string): readonly { name: string; text: string }[] {
  const folder = `${FOLDER}/${release}`;
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => name.endsWith('.feature'));
  return names
    .toSorted()
    .map((name) => ({ name, text: readFileSync(`${folder}/${name}`, 'utf8') }));
}

/** What a release calls its definition; empty where it is not here. */
export function versionOf(release: string): string {
  const [, version = ''] = existsSync(fileOf(release))
    ? (/^ {2}version: *(\S+)/m.exec(readFileSync(fileOf(release), 'utf8')) ?? [])
    : [];
  return version;
}

function fileOf(release: string): string {
  return `${FOLDER}/${release}/sim-swap.yaml`;
}

/** Why a value is not of a schema, as far as these definitions go; `undefined` where it is. */
export function flawOf(schema: unknown, value: unknown, at: Resolve): string | undefined {
  const { type, nullable, properties, required, pattern, minimum, maximum, allOf } = at(schema);
  if (nullable === true && value === null) return undefined;
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
  const bounds = [
    isOfType(value, type) ? undefined : `is not of type ${String(type)}`,
    typeof pattern === 'string' && !new RegExp(pattern).test(String(value))
      ? 'does not match'
      : undefined,
    typeof minimum === 'number' && Number(value) < minimum ? 'is too small' : undefined,
    typeof maximum === 'number' && Number(value) > maximum ? 'is too large' : undefined,
  ];
  return [...all, ...own, ...members, ...others, ...bounds].find((flaw) => flaw !== undefined);
}

function isOfType(value: unknown, type: unknown): boolean {
  switch (type) {
    case 'integer':
      return Number.isInteger(value);
    case 'string':
    case 'boolean':
      return typeof value === type;
    case 'object':
      return typeof value === 'object' && value !== null;
    default:
      return true;
  }
}
