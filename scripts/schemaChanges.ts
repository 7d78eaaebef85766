import {
  ChangeType,
  CriticalityLevel,
  diff,
  type Change,
  type Rule,
} from '@graphql-inspector/core';
import {
  buildASTSchema,
  DirectiveLocation,
  isTypeDefinitionNode,
  isTypeExtensionNode,
  parse,
  type GraphQLSchema,
} from 'graphql';

/** A difference between two schemas, and its effect on those who use the older one. */
export interface SchemaChange {
  readonly level: 'breaking' | 'dangerous' | 'safe';
  /** Names the type and the field. */
  readonly message: string;
}

const LEVELS = {
  [CriticalityLevel.Breaking]: 'breaking',
  [CriticalityLevel.Dangerous]: 'dangerous',
  [CriticalityLevel.NonBreaking]: 'safe',
} as const;

/**
 * What changed from one published SDL to another, by GraphQL Inspector and three rules of our own: without descriptions,
 * and without the members of a type that is new itself.
 */
export async function schemaChanges(from: string, to: string): Promise<readonly SchemaChange[]> {
  const changes = await diff(build(from), build(to), [ourOwn]);
  const added = changes.filter(({ type }) => type === ChangeType.TypeAdded);
  const inAdded = added.map(({ path }) => `${path}.`);
  return changes
    .filter(({ type }) => !type.includes('DESCRIPTION'))
    .filter(({ path }) => !inAdded.some((type) => path?.startsWith(type)))
    .map(({ criticality, message }) => ({ level: LEVELS[criticality.level], message }));
}

/**
 * The SDL has Federation's directives without their definitions, so it is not validated. Those of a
 * type's extensions are moved to the type: GraphQL Inspector looks for them only there.
 */
function build(sdl: string): GraphQLSchema {
  const { definitions, ...document } = parse(sdl);
  const extensions = definitions.filter(isTypeExtensionNode);
  const moved = definitions.map((one) => {
    if (!isTypeDefinitionNode(one)) return one;
    const own = extensions.filter(({ name }) => name.value === one.name.value);
    const directives = [one, ...own].flatMap((node) => node.directives ?? []);
    return { ...one, directives };
  });
  return buildASTSchema({ ...document, definitions: moved }, { assumeValidSDL: true });
}

/** Where GraphQL Inspector is too lenient, and where it is too strict. */
const ourOwn: Rule = ({ changes, oldSchema }) =>
  changes.map((change) => {
    if (breaksQuietly(change)) return judged(change, CriticalityLevel.Breaking);
    if (breaksNoClient(change, oldSchema)) return judged(change, CriticalityLevel.Dangerous);
    return change;
  });

function judged(change: Change, level: CriticalityLevel): Change {
  return { ...change, criticality: { ...change.criticality, level } };
}

function breaksQuietly({ type, message }: Change): boolean {
  // Another default is another question under the same name: `false` would mean something else.
  if (type === ChangeType.FieldArgumentDefaultChanged) return true;
  // Without its key no other subgraph can reach the type.
  return type === ChangeType.DirectiveUsageObjectRemoved && message.includes("'key'");
}

/** Clients cannot write a directive that is only for schemas; but a router or a tool may have read it. */
function breaksNoClient({ type, path }: Change, released: GraphQLSchema | null): boolean {
  if (type !== ChangeType.DirectiveRemoved) return false;
  const directive = released?.getDirective(path?.replace('@', '') ?? '');
  return directive?.locations.every((one) => !EXECUTABLE_LOCATIONS.has(one)) ?? false;
}

/** The places in a client's document where a directive may be. */
const EXECUTABLE_LOCATIONS: ReadonlySet<DirectiveLocation> = new Set([
  DirectiveLocation.QUERY,
  DirectiveLocation.MUTATION,
  DirectiveLocation.SUBSCRIPTION,
  DirectiveLocation.FIELD,
  DirectiveLocation.FRAGMENT_DEFINITION,
  DirectiveLocation.FRAGMENT_SPREAD,
  DirectiveLocation.INLINE_FRAGMENT,
  DirectiveLocation.VARIABLE_DEFINITION,
]);
