import { reasonOf } from './reasons.ts';
import { agoName } from './staleness.ts';
import type { Verdict } from './verdict.ts';
import { windowName } from './windows.ts';

/** A case in words. */
export interface Advice {
  /** The verdict, as large as it is short. */
  readonly title: string;
  /** What the operator said. */
  readonly says: string;
  /** What to do. */
  readonly advice: string;
}

/** Up to here a new SIM is a reason to stop, and not only to look closer. */
const STOP_HOURS = 168;

/** What a person at the desk reads of a verdict. Exhaustive: no verdict goes without advice. */
export function adviceOn(verdict: Verdict, nowMs: number): Advice {
  switch (verdict.kind) {
    case 'swapped': {
      const window = windowName(verdict.withinHours);
      return {
        title: `SIM changed within ${window}`,
        says: `This number moved to a new SIM within the last ${window}.`,
        advice:
          verdict.withinHours <= STOP_HOURS
            ? 'Do not rely on an SMS code or a call to this number. Hold the action and verify the customer in another way.'
            : 'Verify the customer in another way if anything else is unusual.',
      };
    }
    case 'activated':
      return {
        title: `New line: SIM activated ${agoName(verdict.atMs, nowMs)}`,
        says: 'The operator reports no swap: the line itself is new.',
        advice:
          'If the customer had this number before, do not rely on an SMS code: verify them in another way.',
      };
    case 'unknown': {
      const { name, says, advice } = reasonOf(verdict.reason);
      const clear =
        verdict.clearHours === null
          ? ''
          : ` No change within ${windowName(verdict.clearHours)}; nothing is known beyond that.`;
      return { title: `Unknown: ${lowerFirst(name)}`, says: `${says}${clear}`, advice };
    }
    case 'pending': {
      const { name, says, advice } = reasonOf('CONSENT_PENDING');
      return { title: name, says: `${says} The answer will appear here.`, advice };
    }
    case 'needsConsent':
      return {
        title: 'Needs the owner’s consent',
        says: 'This operator answers only if the owner of the number agrees.',
        advice: 'Check only if the customer expects it: a prompt appears on their phone.',
      };
    case 'asking':
      return { title: 'Checking …', says: 'Waiting for the operator.', advice: '' };
    case 'waiting':
      return { title: 'Not checked', says: 'Nothing is known about this number yet.', advice: '' };
    case 'clear':
      return {
        title: 'No change in 30 days',
        says: 'This number stayed on its SIM for the last 30 days.',
        advice: 'The SIM is not a reason to distrust an SMS code to this number.',
      };
  }
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
