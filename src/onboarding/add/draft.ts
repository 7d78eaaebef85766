import { valueAt, type Path } from '../../config/operatorsFile/document.ts';

/** An operator's entry while it is made: as JSON has it, whole or not. */
export type Draft = Readonly<Record<string, unknown>>;

/** The draft with a value at a path; objects on the way are made. Pure. */
export function withMember(draft: Draft, path: readonly string[], value: unknown): Draft {
  const [name, ...rest] = path;
  if (name === undefined) return draft;
  return {
    ...draft,
    [name]: rest.length === 0 ? value : withMember(objectAt(draft, name), rest, value),
  };
}

/** The draft without what stands at a path. Pure. */
export function withoutMember(draft: Draft, path: readonly string[]): Draft {
  const [name, ...rest] = path;
  if (name === undefined || draft[name] === undefined) return draft;
  if (rest.length > 0) {
    return { ...draft, [name]: withoutMember(objectAt(draft, name), rest) };
  }
  const { [name]: _left, ...others } = draft;
  return others;
}

/** The text at a path, a list as texts with commas between; `undefined` where there is none. Pure. */
export function textAt(draft: Draft, path: Path): string | undefined {
  const value = valueAt(draft, path);
  if (Array.isArray(value)) return value.join(', ');
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

/** What the profiles write where the onboarding papers have the value. */
const PLACEHOLDER = /fill[-_]in|\.example(?=[/:]|$)/i;

/** Whether a text only holds the place of the real one. Pure. */
export function isPlaceholder(text: string): boolean {
  return PLACEHOLDER.test(text);
}

/** The paths of all texts that are still to be filled in. Pure. */
export function placeholdersIn(value: unknown, path: Path = []): readonly Path[] {
  if (typeof value === 'string') return isPlaceholder(value) ? [path] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    placeholdersIn(member, [...path, Array.isArray(value) ? Number(name) : name]),
  );
}

function objectAt(draft: Draft, name: string): Draft {
  const value = draft[name];
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
