import type { Random } from '../support/random.ts';
import { textOf } from './rubbish.ts';

type Role = 'bff' | 'subgraph';

/** A literal that once became source code. */
const MAGIC_DATE = '__MAGIC_DATE__33a9e76d_02e0_4128_8e92_3530ad3da74d';
const VARIABLES = ['v', 'n', 'h', 'b', 'list'] as const;
const TYPES = ['Int', 'Int!', 'ID', '[ID!]!', 'Boolean', '_Any', '[_Any!]!', '[[Int]]'] as const;
const OBJECT_TYPES = ['PhoneNumber', 'Query', 'SimSwapConsent', '_Service', 'Nobody'] as const;
const LEAVES = ['e164', 'lastSimSwap', '__typename', 'state', 'retryAfterSeconds', 'name', 'sdl'];
const DIRECTIVES = 'skip include include deprecated specifiedBy defer nothing'.split(' ');
const WORDS = 'null true false RED __proto__ constructor toString'.split(' ');
const INTEGERS = ['0', '-0', '-1', '24', '2147483648', '9'.repeat(400), '-9007199254740993'];
const MAX_DEPTH = 6;
/** Somewhat more tokens than the service accepts. */
const MAX_NODES = 1500;
/** Somewhat more than a body may have. */
const MAX_IGNORED_CHARACTERS = 1_100_000;

/**
 * A document of GraphQL's grammar (September 2025, appendix B), whatever the schema says: literals of every kind in every
 * place, comments, long names, fragments in chains, circles and doubles.
 */
export function grammaticalDocument(random: Random, role: Role): string {
  const writer = new DocumentWriter(random, role);
  return writer.document();
}

class DocumentWriter {
  readonly #random: Random;
  readonly #role: Role;
  /** What is between two tokens: mostly a space, in some documents thousands of comments. */
  readonly #ignored: () => string;
  readonly #fragments: number;
  #nodesLeft: number;
  /** Whether it may hold what no lexer accepts: most documents must not fail there. */
  readonly #mayMisspell: boolean;
  /** Where variables are not allowed. */
  #isConstant = false;

  constructor(random: Random, role: Role) {
    this.#random = random;
    this.#role = role;
    this.#ignored = ignoredBy(random);
    this.#mayMisspell = random.chance(0.15);
    this.#nodesLeft = random.chance(0.1) ? MAX_NODES : 200;
    this.#fragments = random.chance(0.5) ? random.below(8) : 0;
  }

  document(): string {
    const random = this.#random;
    const operations = Array.from({ length: random.chance(0.9) ? 1 : random.below(4) }, () =>
      this.#operation(),
    );
    const fragments = random.pick<() => string[]>([
      () => this.#fragmentsAtRandom(),
      () => this.#fragmentsAtRandom(),
      () => this.#chain(random.pick([5, 30, 200]), 'open'),
      () => this.#chain(random.pick([1, 2, 30, 200]), 'circle'),
      () => this.#chain(random.pick([5, 30, 100]), 'double'),
    ])();
    const definitions = [...operations, ...fragments];
    if (random.chance(0.1)) definitions.reverse();
    return definitions.join(this.#ignored());
  }

  #operation(): string {
    const random = this.#random;
    if (random.chance(0.4)) return this.#rootSelections();
    const kind = random.pick(['query', 'query', 'query', 'mutation', 'subscription']);
    const name = random.chance(0.6) ? this.#name() : '';
    const variables = random.chance(0.5)
      ? `(${VARIABLES.slice(0, 1 + random.below(VARIABLES.length))
          .map((variable) => this.#variableDefinition(variable))
          .join(this.#ignored())})`
      : '';
    return this.#tokens(kind, name, variables, this.#directives(), this.#rootSelections());
  }

  #variableDefinition(name: string): string {
    const random = this.#random;
    this.#isConstant = true;
    const fallback = random.chance(0.6) ? `= ${this.#value(2)}` : '';
    const definition = this.#tokens(`$${name}:`, random.pick(TYPES), fallback, this.#directives());
    this.#isConstant = false;
    return definition;
  }

  #rootSelections(): string {
    const count = 1 + this.#random.below(3);
    return `{${Array.from({ length: count }, () => this.#rootField()).join(this.#ignored())}}`;
  }

  #rootField(): string {
    const random = this.#random;
    if (random.chance(0.2)) return this.#selection(MAX_DEPTH);
    const below = this.#selections(MAX_DEPTH - 1);
    const alias = random.chance(0.4) ? `${this.#name()}:` : '';
    const field: string =
      this.#role === 'bff'
        ? random.pick<() => string>([
            () => `phoneNumber(e164:${this.#value(2)})`,
            () => `phoneNumbers(e164s:${this.#list(() => this.#value(1))})`,
            () => 'myPhoneNumber',
            () => '__schema',
            () => `__type(name:${this.#value(1)})`,
          ])()
        : random.pick<() => string>([
            () => `_entities(representations:${this.#list(() => this.#representation())})`,
            () => `_entities(representations:${this.#value(3)})`,
            () => '_service',
            () => '__schema',
          ])();
    return this.#tokens(alias, field, this.#directives(), below);
  }

  #representation(): string {
    const random = this.#random;
    const members = [
      random.chance(0.85) ? '__typename:"PhoneNumber"' : `__typename:${this.#value(1)}`,
      `e164:${random.chance(0.6) ? this.#number() : this.#value(2)}`,
    ];
    if (random.chance(0.3)) members.push(`__proto__:${this.#value(2)}`);
    if (random.chance(0.2)) members.push(`${this.#name()}:${this.#value(2)}`);
    return `{${members.join(this.#ignored())}}`;
  }

  #selections(depth: number): string {
    const random = this.#random;
    const count = random.chance(0.03) ? 150 : 1 + random.below(4);
    this.#nodesLeft -= count;
    return `{${Array.from({ length: count }, () => this.#selection(depth)).join(this.#ignored())}}`;
  }

  #selection(depth: number): string {
    const random = this.#random;
    const alias = random.chance(0.4) ? `${this.#name()}:` : '';
    const directives = this.#directives();
    switch (random.below(depth > 0 && this.#mayGrow() ? 9 : 5)) {
      case 0:
      case 1:
        return this.#tokens(alias, random.chance(0.9) ? this.#leaf() : this.#name(), directives);
      case 2:
      case 3:
        return this.#tokens(alias, `simSwappedWithin(maxAgeHours:${this.#hours()})`, directives);
      case 4:
        return this.#tokens(`...F${random.below(this.#fragments + 1)}`, directives);
      case 5:
        return this.#tokens(
          '... on',
          random.pick(OBJECT_TYPES),
          directives,
          this.#selections(depth - 1),
        );
      case 6:
        return this.#tokens('...', directives, this.#selections(depth - 1));
      case 7:
        return this.#tokens(alias, 'simSwapConsent', directives, this.#selections(depth - 1));
      default:
        return this.#tokens(
          alias,
          random.pick(['types', 'fields', 'type', 'ofType', 'queryType', 'args']),
          directives,
          this.#selections(depth - 1),
        );
    }
  }

  #leaf(): string {
    return LEAVES[this.#random.below(LEAVES.length)] ?? '__typename';
  }

  #fragmentsAtRandom(): string[] {
    return Array.from({ length: this.#fragments }, (_, index) =>
      this.#fragment(`F${index}`, this.#selections(2)),
    );
  }

  /** Fragments that each spread the next: to an end, in a circle, or twice. */
  #chain(length: number, manner: 'open' | 'circle' | 'double'): string[] {
    return Array.from({ length }, (_, index) => {
      const isLast = index === length - 1;
      const next = isLast ? (manner === 'circle' ? '...F0' : '') : `...F${index + 1}`;
      const spreads = manner === 'double' ? `${next} ${next}` : next;
      return this.#fragment(`F${index}`, `{${this.#leaf()} ${spreads}}`);
    });
  }

  #fragment(name: string, selections: string): string {
    const type = this.#random.chance(0.8) ? 'PhoneNumber' : this.#random.pick(OBJECT_TYPES);
    return this.#tokens('fragment', name, 'on', type, this.#directives(), selections);
  }

  #directives(): string {
    const random = this.#random;
    if (!random.chance(0.12)) return '';
    const name = random.pick(DIRECTIVES);
    const one = random.chance(0.9) ? `@${name}(if:${this.#value(1)})` : `@${name}`;
    return random.chance(0.03) ? `${one} `.repeat(100) : one;
  }

  #number(): string {
    return `"+447700900${String(this.#random.below(1000)).padStart(3, '0')}"`;
  }

  #hours(): string {
    return this.#random.chance(0.8) ? String(this.#random.below(2500)) : this.#value(2);
  }

  #list(item: () => string): string {
    const random = this.#random;
    const length = random.chance(0.04) ? 200 : random.below(5);
    this.#nodesLeft -= length;
    return `[${Array.from({ length }, item).join(this.#ignored())}]`;
  }

  /** Any literal where a value may be, with variables in it. */
  #value(depth: number): string {
    const random = this.#random;
    switch (random.below(depth > 0 && this.#mayGrow() ? 12 : 10)) {
      case 0:
      case 1:
        return this.#number();
      case 2:
        return random.pick(WORDS);
      case 3:
        return random.pick(INTEGERS);
      case 4:
        return random.pick(['0.5', '1e400', '-1E-400', '1.0e+2', `0.${'3'.repeat(1000)}`]);
      case 5:
        return this.#mayMisspell ? JSON.stringify(textOf(random, 40)) : '"some text"';
      case 6:
        return `"""${(this.#mayMisspell ? textOf(random, 40) : 'some text').replaceAll('"', '\\"""')}\n  indented\n"""`;
      case 7:
        return random.pick([
          '"\\u{1F4F1}"',
          '"\\uD83D\\uDCF1"',
          this.#mayMisspell ? '"\\uD800"' : '""',
          '"\\u2028"',
          `"${MAGIC_DATE}globalThis.broken=1"`,
          `"${'x'.repeat(random.chance(0.05) ? 20_000 : 100)}"`,
        ]);
      case 8:
      case 9:
        if (this.#isConstant && !this.#mayMisspell) return this.#number();
        return `$${random.chance(0.9) ? random.pick(VARIABLES) : this.#name()}`;
      case 10:
        return this.#list(() => this.#value(depth - 1));
      default: {
        const names = ['a', 'e164', '__typename', '__proto__', 'constructor', 'hasOwnProperty'];
        const members = Array.from(
          { length: random.below(4) },
          () => `${names[random.below(names.length)] ?? 'a'}:${this.#value(depth - 1)}`,
        );
        return `{${members.join(this.#ignored())}}`;
      }
    }
  }

  #name(): string {
    const random = this.#random;
    return random.chance(0.7)
      ? `a${random.below(5)}`
      : random.pick([
          '__proto__',
          'constructor',
          'hasOwnProperty',
          '_',
          `a${'b'.repeat(200)}`,
          `a${'b'.repeat(random.chance(0.01) ? 50_000 : 2000)}`,
        ]);
  }

  /** Documents would grow without an end. */
  #mayGrow(): boolean {
    return this.#nodesLeft > 0;
  }

  #tokens(...tokens: readonly string[]): string {
    return tokens.filter((token) => token !== '').join(this.#ignored());
  }
}

/** What GraphQL ignores between tokens, the same kind in a whole document. */
function ignoredBy(random: Random): () => string {
  const ignored = random.pick<() => string>([
    () => ' ',
    () => ' ',
    () => ' ',
    () => ', ',
    () => '\r\n\t',
    () => '\ufeff ',
    () => '# a comment\n',
    () => `#${'x'.repeat(random.pick([10, 1000]))}\n`,
    () => '#\n'.repeat(random.pick([1, 100, 2000])),
    () => (random.chance(0.05) ? ' '.repeat(50_000) : ' '),
  ]);
  let left = MAX_IGNORED_CHARACTERS;
  return () => {
    const text = left > 0 ? ignored() : ' ';
    left -= text.length;
    return text;
  };
}
