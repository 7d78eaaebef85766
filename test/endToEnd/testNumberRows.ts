import type { Told } from './answers.ts';

const QUICK = { OPERATOR_TIMEOUT_MS: '3000' };
const PATIENT = { CONSENT_WAIT_MS: '25000' };
const IMPATIENT = { CONSENT_WAIT_MS: '200' };

/** The last digits of a number, and its answers to `lastSimSwap` and `simSwappedWithin`. */
type Row = readonly [
  lastDigits: string,
  date: Told,
  tenDays: Told,
  settings?: Readonly<Record<string, string>>,
];

function failing(lastDigits: string, code: string, settings: Row[3] = {}): Row {
  return [lastDigits, code, code, settings];
}

const LINES: readonly Row[] = [
  ['001', '2 h ago', true],
  ['002', '72 h ago', true],
  ['003', '960 h ago', false],
  ['004', '87600 h ago', false],
  ['005', '24 h ago', false],
  ['006', null, true],
  ['007', null, false],
  ['008', null, false],
  ['009', '72 h ago', 'PERIOD_NOT_SUPPORTED'],
];

const LOOKUPS: readonly Row[] = [
  failing('010', 'NUMBER_NOT_SERVED'),
  failing('011', 'NUMBER_NOT_SERVED'),
  failing('012', 'OPERATOR_RATE_LIMITED'),
  failing('013', 'OPERATOR_UNAVAILABLE'),
  failing('014', 'OPERATOR_UNAVAILABLE'),
  ['015', '87600 h ago', false],
  failing('016', 'OPERATOR_TIMEOUT', QUICK),
  failing('017', 'OPERATOR_UNAVAILABLE'),
  failing('018', 'OPERATOR_INVALID_REPLY'),
  failing('019', 'OPERATOR_REFUSED'),
  failing('020', 'OPERATOR_REFUSED'),
  ['021', '87600 h ago', false],
  ['022', 'OPERATION_NOT_OFFERED', false],
  failing('023', 'OPERATOR_REFUSED'),
  failing('024', 'OPERATOR_REFUSED'),
  failing('025', 'NUMBER_NOT_SERVED'),
  failing('026', 'OPERATOR_REFUSED'),
  failing('030', 'OPERATOR_INVALID_REPLY'),
  failing('031', 'OPERATOR_INVALID_REPLY'),
  ['032', 'OPERATOR_INVALID_REPLY', false],
  ['033', 'OPERATOR_INVALID_REPLY', false],
  ['034', 'OPERATOR_INVALID_REPLY', false],
  failing('035', 'OPERATOR_INVALID_REPLY'),
  failing('036', 'OPERATOR_INVALID_REPLY'),
];

const TOKENS: readonly Row[] = [
  failing('040', 'OPERATOR_REFUSED'),
  failing('041', 'OPERATOR_RATE_LIMITED'),
  failing('042', 'OPERATOR_UNAVAILABLE'),
  failing('043', 'OPERATOR_INVALID_REPLY'),
  failing('044', 'OPERATOR_TIMEOUT', QUICK),
];

const CONSENTS: readonly Row[] = [
  ['050', '87600 h ago', false, PATIENT],
  ['051', '87600 h ago', false, PATIENT],
  failing('052', 'CONSENT_DENIED', PATIENT),
  failing('053', 'CONSENT_DENIED'),
  failing('054', 'NUMBER_NOT_SERVED'),
  failing('055', 'CONSENT_EXPIRED', PATIENT),
  ['056', '87600 h ago', false, PATIENT],
  failing('057', 'CONSENT_EXPIRED'),
  failing('058', 'CONSENT_PENDING', IMPATIENT),
  ['059', '87600 h ago', false],
  failing('060', 'OPERATOR_UNAVAILABLE'),
];

/** In the flow, or both of them, that a number is for. */
export const ROWS = [
  ...[...LINES, ...LOOKUPS, ...TOKENS].map((row) => ['2-legged', ...row] as const),
  ...[...LINES, ...LOOKUPS, ...CONSENTS].map((row) => ['3-legged', ...row] as const),
].map(
  ([flow, lastDigits, date, tenDays, settings = {}]) =>
    [flow, lastDigits, date, tenDays, settings] as const,
);

/** The answer about a test number for docs/testing.md, equal in each flow that it is for. */
export function heardAbout(lastDigits: string): string {
  const row = ROWS.find(([, digits]) => digits === lastDigits);
  if (row === undefined) throw new Error(`There is no row for ${lastDigits}.`);
  const [, , date, tenDays] = row;
  if (isCode(date))
    return date === tenDays
      ? inBackticks(date)
      : `${inBackticks(date)} for the date, else ${inBackticks(tenDays)}`;
  return inBackticks(tenDays);
}

function isCode(told: Told): boolean {
  return typeof told === 'string' && /^[A-Z_]+$/.test(told);
}

function inBackticks(told: Told): string {
  return `\`${String(told)}\``;
}
