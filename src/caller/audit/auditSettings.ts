/** Where the audit log goes, and how it names numbers. */
export interface AuditSettings {
  /** The first names numbers; all of them are searched for, while one takes another's place. */
  readonly keys: readonly [string, ...string[]];
  /** Standard output where absent. */
  readonly file: string | undefined;
}
