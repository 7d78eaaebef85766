import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  buildSchema,
  isEnumType,
  isObjectType,
  isSpecifiedScalarType,
  type GraphQLField,
  type GraphQLNamedType,
} from 'graphql';
import { pretty, type MadeFile } from './madeFile.ts';

const SDL = new URL('../schema/bff.graphql', import.meta.url);
const PAGE = fileURLToPath(new URL('../docs/api/schema.md', import.meta.url));

/** Makes docs/api/schema.md: every type of the BFF's schema, all of which but `Query` a subgraph has too. */
export async function makeSchemaReference(): Promise<readonly MadeFile[]> {
  const schema = buildSchema(readFileSync(SDL, 'utf8'));
  const types = Object.values(schema.getTypeMap()).filter(
    (type) => !type.name.startsWith('__') && !isSpecifiedScalarType(type),
  );
  const text = `# Schema

Generated from [schema/bff.graphql](../../schema/bff.graphql). As a [subgraph](../supergraph.md) the service has the same types without \`Query\`, and \`PhoneNumber\` is an entity with the key \`e164\`.

${types.map(sectionOf).join('\n\n')}
`;
  return [{ path: PAGE, text: await pretty(text, PAGE) }];
}

function sectionOf(type: GraphQLNamedType): string {
  const parts = [`## ${type.name}`, type.description ?? ''];
  if (isObjectType(type)) parts.push(...Object.values(type.getFields()).map(fieldOf));
  if (isEnumType(type))
    parts.push(
      type
        .getValues()
        .map(({ name, description }) => `- \`${name}\`: ${joined(description)}`)
        .join('\n'),
    );
  return parts.filter((part) => part !== '').join('\n\n');
}

function fieldOf({ name, type, description, args }: GraphQLField<unknown, unknown>): string {
  const lines = args.map((arg) => {
    const fallback =
      arg.defaultValue === undefined
        ? ''
        : `; \`${JSON.stringify(arg.defaultValue)}\` where absent`;
    const about = joined(arg.description);
    return `- \`${arg.name}\` (\`${String(arg.type)}\`${fallback})${about === '' ? '' : `: ${about}`}`;
  });
  return [`### ${name}`, `\`${String(type)}\``, description ?? '', lines.join('\n')]
    .filter((part) => part !== '')
    .join('\n\n');
}

/** As one line, for a list. */
function joined(description: string | null | undefined): string {
  return (description ?? '').replaceAll(/\s+/g, ' ');
}
