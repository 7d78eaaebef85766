/** Whom a setting is for: the section of docs/settings.md and of .env.example in which it stands. */
export type Audience =
  'try' | 'operator' | 'callers' | 'consent' | 'limits' | 'observe' | 'egress' | 'share' | 'web';

interface Common {
  readonly audience: Audience;
  /** What it sets, in one sentence that a cell of a table holds: {@link MAX_DESCRIPTION_CHARACTERS}. */
  readonly description: string;
  /** What else there is to know, in Markdown: it stands below the table. */
  readonly detail?: string;
  /** What holds where it is not set, in words, and no value of this setting says the same. */
  readonly whenUnset?: string;
}

/** A setting that has a value where none is set has a `default`; of the values of a `oneOf` it is the first. */
export type Setting = Common &
  (
    | {
        /** A whole number. */
        readonly kind: 'integer';
        readonly min: number;
        readonly max: number;
        readonly unit?: 'ms' | 's' | 'hours' | 'bytes';
        readonly default?: number;
      }
    | { readonly kind: 'boolean'; readonly default: boolean }
    | {
        readonly kind: 'oneOf';
        readonly values: readonly [string, ...string[]];
        /** Where it says something to set even the default, .env.example leaves it empty. */
        readonly isLeftEmpty?: true;
      }
    /** Texts, with commas between in a variable. */
    | { readonly kind: 'list'; readonly default: readonly string[] }
    | { readonly kind: 'text'; readonly default?: string }
    /** An https address; on loopback it may be http. */
    | { readonly kind: 'url' }
    /** The path of a file. */
    | { readonly kind: 'file' }
    /** An object in JSON. */
    | { readonly kind: 'json'; readonly default: string }
    /** Comes as NAME, or as NAME_FILE with the path of the file that holds it; no message quotes it. */
    | { readonly kind: 'secret'; readonly default?: string }
  );

/** The settings of one kind. */
export type SettingOf<Kind extends Setting['kind']> = Extract<Setting, { readonly kind: Kind }>;

/** What holds where nothing is set, as a variable has it; `undefined` where no value does. Pure. */
export function defaultOf(setting: Setting): string | undefined {
  switch (setting.kind) {
    case 'integer':
    case 'boolean':
    case 'list':
    case 'text':
    case 'json':
    case 'secret':
      return setting.default?.toString();
    case 'oneOf':
      return setting.values[0];
    case 'url':
    case 'file':
      return undefined;
  }
}

/** What a cell of a table holds without a line's end on a screen. */
export const MAX_DESCRIPTION_CHARACTERS = 100;
