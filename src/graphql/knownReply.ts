import {
  getNullableType,
  isLeafType,
  isListType,
  isObjectType,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
} from 'graphql';
import { failedRootBytes, keyBytes, MIN_FIELD_BYTES, NULL_BYTES } from './replyBytes.ts';
import type { Selections } from './selections.ts';

const META_FIELDS: Readonly<Record<string, GraphQLField<unknown, unknown>>> = {
  __schema: SchemaMetaFieldDef,
  __type: TypeMetaFieldDef,
};

/**
 * Measures what the schema itself answers, introspection and `_service`: all of it is known before
 * anything is executed.
 */
export class KnownReply {
  readonly #info: GraphQLResolveInfo;
  readonly #root: GraphQLObjectType;
  readonly #selections: Selections;
  #bytes = 0;
  #maxBytes = 0;

  constructor(schema: GraphQLSchema, root: GraphQLObjectType, selections: Selections) {
    // The resolvers of introspection and of `_service` read nothing else.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    this.#info = { schema } as GraphQLResolveInfo;
    this.#root = root;
    this.#selections = selections;
  }

  /** What a root field adds to the reply; measuring ends once it is over `maxBytes`. */
  bytesOf(field: FieldNode, maxBytes: number): number {
    this.#bytes = failedRootBytes(keyBytes(field));
    this.#maxBytes = maxBytes;
    this.#addField(field, this.#root, undefined);
    return this.#bytes;
  }

  #addField(field: FieldNode, parent: GraphQLObjectType, source: unknown): void {
    const name = field.name.value;
    const definition =
      name === TypeNameMetaFieldDef.name
        ? undefined
        : (parent.getFields()[name] ?? META_FIELDS[name]);
    const before = this.#bytes;
    this.#bytes += keyBytes(field);
    if (definition === undefined) this.#bytes += parent.name.length + 2;
    else this.#addValue(this.#resolve(definition, field, source), definition.type, field);
    this.#bytes = Math.max(this.#bytes, before + MIN_FIELD_BYTES);
  }

  #addValue(value: unknown, nullable: GraphQLOutputType, field: FieldNode): void {
    const type = getNullableType(nullable);
    if (value === undefined || value === null) {
      this.#bytes += NULL_BYTES;
    } else if (isListType(type)) {
      this.#bytes += 2;
      for (const item of toArray(value)) {
        if (this.#bytes > this.#maxBytes) return;
        this.#bytes += 1;
        this.#addValue(item, type.ofType, field);
      }
    } else if (isObjectType(type)) {
      this.#bytes += 2;
      if (field.selectionSet === undefined) return;
      for (const below of this.#selections.fieldsOf(field.selectionSet)) {
        if (this.#bytes > this.#maxBytes) return;
        this.#addField(below, type, value);
      }
    } else if (isLeafType(type)) {
      this.#bytes += Buffer.byteLength(JSON.stringify(type.serialize(value)));
    }
  }

  #resolve(definition: GraphQLField<unknown, unknown>, field: FieldNode, source: unknown): unknown {
    const args = this.#selections.argumentsOf(definition, field);
    if (definition.resolve !== undefined) {
      return definition.resolve(source, args, undefined, this.#info);
    }
    return isObject(source) ? source[definition.name] : undefined;
  }
}

/** Introspection gives every list as an array. */
function toArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
