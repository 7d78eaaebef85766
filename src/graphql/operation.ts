import { COUNTED_TIMES } from './operationCost.ts';

/** The heap that a node of JSON and a character of it take, rounded up. */
const NODE_BYTES = 64;
const CHARACTER_BYTES = 2;

export type Members = Readonly<Record<string, unknown>>;

/** What is held of a request until it is answered. */
export interface CutOperation {
  /** `query`, `operationName`, `variables` and `extensions`, where present. */
  readonly members: Members;
  readonly heldBytes: number;
  /** The longest of its lists of numbers, if longer than ten times `maxNumbers`: the operation is not executed then. */
  readonly tooLongList: number | undefined;
}

/**
 * Leaves out of a request what its execution does not read: variables that its document does not name, the members of a
 * representation other than `__typename` and `e164`, what is below a list in a list, and extensions. Where a type is
 * wrong an empty value of that type stays, so that the refusal is the same. Pure.
 */
export function cutOperation(sent: Members, maxNumbers: number): CutOperation {
  const { query, operationName, variables, extensions } = sent;
  const maxItems = COUNTED_TIMES * maxNumbers;
  let heldBytes = 0;
  let tooLongList: number | undefined;

  const held = (text: string): string => {
    heldBytes += NODE_BYTES + CHARACTER_BYTES * text.length;
    return text;
  };
  const textOrEmpty = (value: unknown): unknown =>
    typeof value === 'string' ? held(value) : emptied(value);
  const cutItem = (value: unknown): unknown => {
    if (!isMembers(value)) return textOrEmpty(value);
    heldBytes += NODE_BYTES;
    const { __typename, e164 } = value;
    return {
      ...(typeof __typename === 'string' ? { __typename: held(__typename) } : {}),
      ...(typeof e164 === 'string' ? { e164: held(e164) } : {}),
    };
  };
  const cutVariable = (value: unknown): unknown => {
    heldBytes += NODE_BYTES;
    if (!Array.isArray(value)) return cutItem(value);
    if (value.length > maxItems) tooLongList = Math.max(tooLongList ?? 0, value.length);
    else heldBytes += NODE_BYTES * value.length;
    return value.length > maxItems ? [] : value.map(cutItem);
  };

  const members: Record<string, unknown> = {};
  if (query !== undefined) members['query'] = textOrEmpty(query);
  if (operationName !== undefined) members['operationName'] = textOrEmpty(operationName);
  if (isMembers(variables)) {
    const named = namesIn(query);
    const kept: [name: string, value: unknown][] = [];
    for (const [name, value] of Object.entries(variables)) {
      if (named?.has(name) !== false) kept.push([held(name), cutVariable(value)]);
    }
    members['variables'] = Object.fromEntries(kept);
  } else if (variables !== undefined) members['variables'] = emptied(variables);
  if (extensions !== undefined) members['extensions'] = emptied(extensions);
  return { members, heldBytes, tooLongList };
}

/** Reads each character once, whatever the document. A comment may be before the name, and contain such a text. */
const VARIABLE = /\$[\s,\uFEFF]*(?:[_a-z]\w*|#)/gi;
const BEFORE_NAME = /^\$[\s,\uFEFF]*/;

/** The variables that a document declares, with what only looks like one; `undefined` where it may be any name. */
function namesIn(document: unknown): ReadonlySet<string> | undefined {
  const names = new Set<string>();
  if (typeof document !== 'string') return names;
  for (const variable of document.match(VARIABLE) ?? []) {
    const name = variable.replace(BEFORE_NAME, '');
    if (name === '#') return undefined;
    names.add(name);
  }
  return names;
}

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function emptied(value: unknown): unknown {
  if (typeof value === 'string') return '';
  if (Array.isArray(value)) return [];
  return isMembers(value) ? {} : value;
}
