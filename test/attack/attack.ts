import type { Stage } from './stage.ts';

/** One way to break in, to learn what is another's, to make the service hang or to make it pay. */
export interface Attack {
  readonly name: string;
  readonly tries: string;
  /** What must be so when it is over; it names the figures that the attack judges. */
  readonly holds: string;
  /** Does it, and reports to the stage what it saw. Rejects only when it could not be carried out. */
  run(stage: Stage): Promise<void>;
}

export interface Finding {
  readonly what: string;
  readonly isHeld: boolean;
  readonly seen: string;
}

/** What came of an attack, and why it came to no end. */
export interface Outcome {
  readonly state: 'held' | 'succeeded' | 'not carried out' | 'left out';
  readonly findings: readonly Finding[];
  readonly why?: string;
}

export interface Report {
  readonly attack: Pick<Attack, 'name' | 'tries' | 'holds'>;
  readonly outcome: Outcome;
}

/** The verdict on the findings; `why` says what kept the attack from its end. Pure. */
export function outcomeOf(findings: readonly Finding[], why: string | undefined): Outcome {
  if (findings.some(({ isHeld }) => !isHeld)) return { state: 'succeeded', findings };
  return why === undefined
    ? { state: 'held', findings }
    : { state: 'not carried out', findings, why };
}

/** Whether nothing got through, and nothing that was begun stayed undecided. Pure. */
export function isClean(reports: readonly Report[]): boolean {
  return reports.every(({ outcome: { state } }) => state === 'held' || state === 'left out');
}
