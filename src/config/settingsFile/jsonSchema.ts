import { jsonSchema, type JsonSchema } from '../operatorsFile/jsonSchema.ts';
import { defaultOf, type Setting } from '../setting.ts';
import { FILE_SETTINGS } from './fileSettings.ts';

/** The JSON Schema of SETTINGS_FILE: that of OPERATORS_FILE, of which no member is needed, and the flat settings. */
export function settingsFileSchema(): JsonSchema {
  const { properties, required: _, ...operatorsFile } = jsonSchema();
  return {
    ...operatorsFile,
    description: 'The settings of the SIM swap subgraph (SETTINGS_FILE; docs/settings.md).',
    properties: {
      settings: {
        description: 'settings by the names of their variables; a variable that is set wins',
        type: 'object',
        properties: Object.fromEntries(
          Array.from(FILE_SETTINGS, ([name, setting]) => [name, schemaOf(setting)]),
        ),
        additionalProperties: false,
      },
      ...properties,
    },
  };
}

function schemaOf(setting: Setting): JsonSchema {
  const { description } = setting;
  const value = defaultOf(setting);
  const text = { description, type: 'string', ...(value === undefined ? {} : { default: value }) };
  switch (setting.kind) {
    case 'integer': {
      const { min, max, default: fallback } = setting;
      const schema = { description, type: 'integer', minimum: min, maximum: max };
      return fallback === undefined ? schema : { ...schema, default: fallback };
    }
    case 'boolean':
      return { description, type: 'boolean', default: setting.default };
    case 'oneOf':
      return { description, enum: setting.values, default: setting.values[0] };
    case 'list':
      return { description, type: 'array', items: { type: 'string' }, default: setting.default };
    case 'json':
      return { description, type: 'object', additionalProperties: true };
    case 'text':
      return text;
    case 'url':
    case 'file':
      return { description, type: 'string' };
    case 'secret':
      return { description: `${description} The path of the file that holds it.`, type: 'string' };
  }
}
