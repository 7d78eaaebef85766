import {
  BREAK,
  visit,
  type DocumentNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { compileQuery, isCompiledQuery, type CompiledQuery } from 'graphql-jit';

/** What an operation brought that brought no error. */
export type Data = Readonly<Record<string, unknown>>;

/** Compiling takes as long as some ten executions, and longer than most documents are worth. */
const USES_BEFORE_COMPILING = 3;

/** A document of this size takes ten milliseconds to compile, one of ten times the size a tenth of a second. */
const MOST_FIELDS = 32;

const DEFAULT_CAPACITY = 500;

/** A document that came by, and what was made of it. */
interface Known {
  uses: number;
  compiled: CompiledQuery | 'unfit' | undefined;
}

/**
 * Executes operations that come again by code made for them (docs/decisions/0009).
 *
 * It answers what it answers as graphql-js does, and leaves the rest to graphql-js: documents with
 * directives or fragments, those that came seldom, and whatever came to an error.
 */
export class CompiledOperations {
  readonly #schema: GraphQLSchema;
  readonly #capacity: number;
  /** The oldest first; a document that is dropped is compiled anew if it goes on coming. */
  readonly #known = new Map<DocumentNode, Known>();

  constructor(schema: GraphQLSchema, capacity = DEFAULT_CAPACITY) {
    this.#schema = schema;
    this.#capacity = capacity;
  }

  /**
   * The data of an operation; `undefined` when graphql-js has to execute it. Nothing is asked twice then, as
   * a request's loader keeps what it was asked.
   *
   * @param variables as graphql-js coerced them
   */
  async execute(
    document: DocumentNode,
    operation: OperationDefinitionNode,
    variables: Readonly<Record<string, unknown>>,
    contextValue: object,
  ): Promise<Data | undefined> {
    const compiled = this.#find(document, operation);
    if (compiled === undefined) return undefined;
    const { data, errors } = await compiled.query(undefined, contextValue, variables);
    return errors === undefined && data !== null ? data : undefined;
  }

  #find(document: DocumentNode, operation: OperationDefinitionNode): CompiledQuery | undefined {
    const known = this.#known.get(document) ?? this.#remember(document);
    if (known.compiled === 'unfit') return undefined;
    if (known.compiled !== undefined) return known.compiled;
    known.uses += 1;
    if (known.uses <= USES_BEFORE_COMPILING) return undefined;
    known.compiled = this.#compile(document, operation);
    return known.compiled === 'unfit' ? undefined : known.compiled;
  }

  #remember(document: DocumentNode): Known {
    if (this.#known.size >= this.#capacity) {
      const [oldest] = this.#known.keys();
      if (oldest !== undefined) this.#known.delete(oldest);
    }
    const known: Known = { uses: 0, compiled: undefined };
    this.#known.set(document, known);
    return known;
  }

  #compile(document: DocumentNode, operation: OperationDefinitionNode): CompiledQuery | 'unfit' {
    if (!isFit(document)) return 'unfit';
    const compiled = compileQuery(this.#schema, document, operation.name?.value ?? '');
    return isCompiledQuery(compiled) ? compiled : 'unfit';
  }
}

/**
 * Whether graphql-jit answers a document as graphql-js does. Fields that fragments bring under @skip and
 * @include get lost in it, and introspection is nobody's hurry.
 */
function isFit(document: DocumentNode): boolean {
  if (document.definitions.length !== 1) return false;
  let fields = 0;
  let isPlain = true;
  visit(document, {
    Directive: () => {
      isPlain = false;
      return BREAK;
    },
    FragmentSpread: () => {
      isPlain = false;
      return BREAK;
    },
    Field: ({ name }) => {
      fields += 1;
      if (fields <= MOST_FIELDS && (!name.value.startsWith('__') || name.value === '__typename')) {
        return undefined;
      }
      isPlain = false;
      return BREAK;
    },
  });
  return isPlain;
}
