import {
  BREAK,
  visit,
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SourceLocation,
} from 'graphql';
import { compileQuery, isCompiledQuery, type CompiledQuery } from 'graphql-jit';
import { LookupError } from '../errors.ts';

/** What an operation brought. */
export interface Executed {
  readonly data: Readonly<Record<string, unknown>>;
  readonly failures: readonly FailedField[];
}

/** A field that is null because of a failed lookup. */
export interface FailedField {
  readonly error: LookupError;
  readonly path: readonly (string | number)[];
  readonly locations: readonly SourceLocation[];
}

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
 * directives or fragments, those that came seldom, and every error but a failed lookup.
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
   * What an operation brought; `undefined` when graphql-js has to execute it. Nothing is asked twice then, as
   * a request's loader keeps what it was asked.
   *
   * @param variables as graphql-js coerced them
   */
  async execute(
    document: DocumentNode,
    operation: OperationDefinitionNode,
    variables: Readonly<Record<string, unknown>>,
    contextValue: object,
  ): Promise<Executed | undefined> {
    const compiled = this.#find(document, operation);
    if (compiled === undefined) return undefined;
    const { data, errors = [] } = await compiled.query(undefined, contextValue, variables);
    const failures = errors.map(failedField).filter((failure) => failure !== undefined);
    return !data || failures.length < errors.length ? undefined : { data, failures };
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

function failedField({ originalError, path, locations }: GraphQLError): FailedField | undefined {
  return originalError instanceof LookupError && path !== undefined
    ? { error: originalError, path, locations: locations ?? [] }
    : undefined;
}

/**
 * Whether graphql-jit answers a document as graphql-js does. Fields that fragments bring under @skip and
 * @include get lost in it, and introspection is nobody's hurry.
 */
function isFit(document: DocumentNode): boolean {
  if (document.definitions.length !== 1) return false;
  let fields = 0;
  let isPlain = true;
  const unfit = (): typeof BREAK => {
    isPlain = false;
    return BREAK;
  };
  visit(document, {
    Directive: unfit,
    FragmentSpread: unfit,
    Field: ({ name: { value: name } }) => {
      fields += 1;
      const isIntrospection = name.startsWith('__') && name !== '__typename';
      return fields > MOST_FIELDS || isIntrospection ? unfit() : undefined;
    },
  });
  return isPlain;
}
