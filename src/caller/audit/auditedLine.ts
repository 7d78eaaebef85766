/** What a line of the audit log tells, as far as it tells it: lines of older versions tell less. */
export interface AuditedLine {
  readonly audit: string;
  /** Milliseconds since 1970; `NaN` where the line has no time. */
  readonly atMs: number;
  readonly event: string;
  readonly number: string;
  readonly issuer: string;
  readonly subject: string;
  readonly client: string;
  /** Hashes of the numbers that stand in the caller's names. */
  readonly numbers: readonly string[];
  readonly purpose: string;
  readonly operator: string;
  readonly operation: string;
  readonly correlator: string;
  readonly outcome: string;
  readonly attempts: number;
}

/** Whether a line may be the audit log's, which shares standard output with the log. Pure. */
export function mayBeAudited(line: string): boolean {
  return line.includes('"audit":');
}

/** Reads a line of the audit log; `undefined` where it is torn. What it does not tell is an empty text. Pure. */
export function readAuditedLine(line: string): AuditedLine | undefined {
  let entry: unknown;
  try {
    entry = JSON.parse(line);
  } catch {
    return undefined;
  }
  const text = (name: string): string => textOf(memberOf(entry, name));
  const caller = memberOf(entry, 'caller');
  const numbers = memberOf(caller, 'numbers');
  const attempts = memberOf(entry, 'attempts');
  return {
    audit: text('audit'),
    atMs: Date.parse(text('time')),
    event: text('event'),
    number: text('number'),
    issuer: textOf(memberOf(caller, 'issuer')),
    subject: textOf(memberOf(caller, 'subject')),
    client: textOf(memberOf(caller, 'client')),
    numbers: Array.isArray(numbers) ? numbers.map(textOf) : [],
    purpose: text('purpose'),
    operator: text('operator'),
    operation: text('operation'),
    correlator: text('correlator'),
    outcome: text('outcome'),
    attempts: typeof attempts === 'number' ? attempts : 0,
  };
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
