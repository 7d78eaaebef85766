const HOUR_MS = 3_600_000;

/** The true state of a mobile line, and what its operator may disclose of it. */
export interface Line {
  /** Hours since the SIM was last swapped; absent for a line that never swapped. */
  readonly swappedHoursAgo?: number;
  readonly activatedHoursAgo: number;
  /** Whether local law forbids stating the date. */
  readonly withholdsDate?: boolean;
  /** With a withheld date: the number of days without a swap, where that is stated. */
  readonly monitoredPeriodDays?: number;
  /** How far back `check` may look; 2400 hours unless local law says less. */
  readonly checksBackHours?: number;
}

/** The body of an answer to `retrieve-date` (docs/operator-api.md, "What a SIM swap is"). */
export interface RetrieveDateAnswer {
  readonly latestSimChange: string | null;
  readonly monitoredPeriod?: number;
}

/** Whether the last swap is at most `maxAgeHours` ago, inclusive. */
export function swappedWithin({ swappedHoursAgo }: Line, maxAgeHours: number): boolean {
  return swappedHoursAgo !== undefined && swappedHoursAgo <= maxAgeHours;
}

/** The last swap, or the activation of a line without one; `null` where it may not be disclosed. */
export function retrieveDate(line: Line, nowMs: number): RetrieveDateAnswer {
  if (line.withholdsDate === true) {
    const { monitoredPeriodDays: days } = line;
    return days === undefined || swappedWithin(line, days * 24)
      ? { latestSimChange: null }
      : { latestSimChange: null, monitoredPeriod: days };
  }
  const hoursAgo = line.swappedHoursAgo ?? line.activatedHoursAgo;
  return { latestSimChange: new Date(nowMs - hoursAgo * HOUR_MS).toISOString() };
}
