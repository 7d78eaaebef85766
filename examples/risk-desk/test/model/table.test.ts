import { describe, expect, it } from 'vitest';
import { isOutage, outageOf } from '../../page/model/outage.ts';
import { retryPlan } from '../../page/model/retry.ts';
import { BY_RISK, countOutcomes, viewed, type TableView } from '../../page/model/tableView.ts';
import type { RowState } from '../../page/model/verdict.ts';
import { answer, answered, AS_OF_MS, NO, row, unknown, YES } from './rows.ts';

const CLEAR = answered([NO, NO, NO, NO], { kind: 'at', atMs: AS_OF_MS - 400 * 86_400_000 });
const SWAPPED = answered([NO, YES, YES, YES], { kind: 'at', atMs: AS_OF_MS - 2 * 86_400_000 });
const LATELY = answered([YES, YES, YES, YES], { kind: 'withheld' });
const NEW_LINE = answered([NO, NO, NO, NO], { kind: 'at', atMs: AS_OF_MS - 86_400_000 });
const AWAY: RowState = { kind: 'failed', reason: 'OPERATOR_UNAVAILABLE' };
const NOT_SERVED: RowState = { kind: 'failed', reason: 'NUMBER_NOT_SERVED' };

const ROWS = [
  row(1, CLEAR, { customer: { id: 'C1', name: 'Grace' } }),
  row(2, SWAPPED, { customer: { id: 'C2', name: 'ada' } }),
  row(3, AWAY, { customer: null }),
  row(4, LATELY),
  row(5, { kind: 'needsConsent' }),
  row(6, { kind: 'waiting' }),
  row(7, NEW_LINE),
];

function ids(view: Partial<TableView>): number[] {
  return viewed(ROWS, { ...BY_RISK, ...view }).map(({ id }) => id);
}

function times(count: number, state: RowState): RowState[] {
  return Array.from({ length: count }, () => state);
}

describe('the rows', () => {
  it.each([
    ['by risk, unless another order is chosen', {}, [4, 2, 7, 3, 5, 6, 1]],
    ['by risk, backwards', { sort: { column: 'risk', isDescending: true } }, [1, 6, 5, 3, 7, 2, 4]],
    ['as uploaded', { sort: { column: 'line', isDescending: false } }, [1, 2, 3, 4, 5, 6, 7]],
    [
      'the last line first',
      { sort: { column: 'line', isDescending: true } },
      [7, 6, 5, 4, 3, 2, 1],
    ],
    [
      'by change: no date last',
      { sort: { column: 'lastChange', isDescending: false } },
      [1, 2, 7, 3, 4, 5, 6],
    ],
    [
      'by change, backwards: no date last',
      { sort: { column: 'lastChange', isDescending: true } },
      [7, 2, 1, 3, 4, 5, 6],
    ],
    ['by customer', { sort: { column: 'customer', isDescending: false } }, [2, 4, 5, 6, 7, 1, 3]],
    ['of one tile', { filter: { kind: 'outcome', outcome: 'within72h' } }, [2]],
    ['of a new line', { filter: { kind: 'outcome', outcome: 'activated' } }, [7]],
    ['that are unknown', { filter: { kind: 'outcome', outcome: 'unknown' } }, [3]],
    ['of a customer', { search: ' GRACE ' }, [1]],
    ['of a customer id', { search: 'c2' }, [2]],
    ['with digits', { search: '900 006' }, [6]],
    ['too few digits find no number', { search: '06' }, []],
    [
      'of an outcome and a customer',
      { filter: { kind: 'outcome', outcome: 'within72h' }, search: 'ada' },
      [2],
    ],
  ] as const)('%s', (_, view, expected) => {
    expect(ids(view)).toEqual(expected);
  });

  it('are counted by outcome', () => {
    expect(countOutcomes(ROWS)).toEqual({
      within24h: 1,
      within72h: 1,
      within7d: 0,
      within30d: 0,
      activated: 1,
      unknown: 1,
      consent: 1,
      open: 1,
      clear: 1,
    });
  });
});

describe('a retry', () => {
  it('checks what failed for a reason that may pass, when it is time', () => {
    const rows = [
      ...ROWS,
      row(10, NOT_SERVED),
      row(11, { kind: 'failed', reason: 'OPERATOR_TIMEOUT', before: answer([NO, NO, NO, NO]) }),
      row(8, answered([unknown('OPERATOR_TIMEOUT'), NO, NO, NO]), { retryAtMs: 500 }),
      row(9, { kind: 'failed', reason: 'NO_CONNECTION' }, { retryAtMs: 900 }),
    ];
    const plan = retryPlan(rows, 500);
    expect(plan.due.map(({ id }) => id)).toEqual([3, 11, 8]);
    expect(plan).toMatchObject({ later: 1, nextAtMs: 900 });
  });

  it.each([
    'CONSENT_DENIED',
    'CONSENT_EXPIRED',
    'NUMBER_NOT_SERVED',
    'PERIOD_NOT_SUPPORTED',
    'OPERATION_NOT_OFFERED',
    'OPERATOR_REFUSED',
    'OPERATOR_INVALID_REPLY',
    'FORBIDDEN',
    'A_REASON_THAT_A_LATER_SERVICE_HAS',
  ])('asks nothing that failed with %s', (reason) => {
    expect(retryPlan([row(1, { kind: 'failed', reason })], 0).due).toEqual([]);
  });
});

describe('an outage', () => {
  it.each([
    ['two pages without an answer', times(40, AWAY), true],
    ['one page without an answer', times(20, AWAY), false],
    ['one failed page among others', [...times(40, CLEAR), ...times(20, AWAY)], false],
    ['three failed pages after many good ones', [...times(500, CLEAR), ...times(60, AWAY)], true],
    ['numbers that are not served', times(60, NOT_SERVED), false],
  ])('%s: %s', (_, states, expected) => {
    expect(isOutage(states)).toBe(expected);
  });

  it.each([
    ['NO_CONNECTION', 'page'],
    ['UNAVAILABLE', 'service'],
    ['GATEWAY_TIMEOUT', 'service'],
    ['SUBREQUEST_HTTP_ERROR', 'service'],
    ['OPERATOR_UNAVAILABLE', 'operator'],
    ['OPERATOR_TIMEOUT', 'operator'],
  ])('by %s is of the %s', (reason, away) => {
    expect(outageOf(times(5, { kind: 'failed', reason }))).toEqual({ away, rows: 5 });
  });

  it('is mentioned from five rows on', () => {
    expect(outageOf(times(4, AWAY))).toBeNull();
    expect(outageOf([...times(5, AWAY), CLEAR])).toEqual({ away: 'operator', rows: 5 });
  });
});
