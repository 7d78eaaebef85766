import type { DeskRow } from '../../page/model/deskRow.ts';
import { readNumber, type E164 } from '../../page/model/phoneNumber.ts';
import type { RowState } from '../../page/model/verdict.ts';
import type { Answer, LastChange, WindowAnswer } from '../../page/model/windows.ts';

export const AS_OF_MS = Date.parse('2026-11-22T12:00:00Z');

export const YES: WindowAnswer = { kind: 'swapped', asOfMs: AS_OF_MS };
export const NO: WindowAnswer = { kind: 'notSwapped', asOfMs: AS_OF_MS };
export const NOT_ASKED: WindowAnswer = { kind: 'notAsked' };

export function unknown(
  reason: string,
  told: Partial<Extract<WindowAnswer, { kind: 'unknown' }>> = {},
): WindowAnswer {
  return {
    kind: 'unknown',
    reason,
    retryAfterSeconds: null,
    expiresAtMs: null,
    maxAgeHours: null,
    ...told,
  };
}

/** The windows from the smallest. */
export function answer(
  [day, threeDays, week, month]: readonly [WindowAnswer, WindowAnswer, WindowAnswer, WindowAnswer],
  lastChange: LastChange = { kind: 'withheld' },
): Answer {
  return { windows: { 24: day, 72: threeDays, 168: week, 720: month }, lastChange };
}

export function answered(...parameters: Parameters<typeof answer>): RowState {
  return { kind: 'answered', answer: answer(...parameters) };
}

export function number(text: string): E164 {
  const reading = readNumber(text);
  if (reading.kind !== 'number') throw new Error('This is no number.');
  return reading.e164;
}

/** A row in the line of its id. */
export function row(id: number, state: RowState, more: Partial<DeskRow> = {}): DeskRow {
  return {
    id,
    line: id,
    own: [],
    e164: number(`+4477009000${String(id).padStart(2, '0')}`),
    customer: { id: `C${id}`, name: `Customer ${id}` },
    state,
    retryAtMs: 0,
    correlator: null,
    ...more,
  };
}
