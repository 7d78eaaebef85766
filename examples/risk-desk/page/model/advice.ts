import { reasonOf } from './reasons.ts';
import type { Verdict } from './verdict.ts';
import { windowName } from './windows.ts';

/** A case in words. */
export interface Advice {
  /** The verdict, as large as it is short. */
  readonly title: string;
  /** What was said. */
  readonly says: string;
  /** What to do. */
  readonly advice: string;
}

/** Up to here a new SIM is a reason to stop, and not only to look closer. */
const STOP_HOURS = 168;

/** What a person at the desk reads of a verdict. Exhaustive: no verdict goes without advice. */
export function adviceOn(verdict: Verdict): Advice {
  switch (verdict.kind) {
    case 'swapped': {
      const window = windowName(verdict.withinHours);
      return {
        title: `SIM changed within ${window}`,
        says: `The operator says that this number was moved to another SIM card within the last ${window}.`,
        advice:
          verdict.withinHours <= STOP_HOURS
            ? 'Do not rely on an SMS code or a call to this number. Hold the action and verify the customer in another way.'
            : 'Look closer before you rely on an SMS code: verify the customer in another way if anything else is unusual.',
      };
    }
    case 'unknown': {
      const { name, says, advice } = reasonOf(verdict.reason);
      const vouched =
        verdict.clearHours === null
          ? ''
          : ` Within ${windowName(verdict.clearHours)} it vouches for no change; beyond that nothing is known.`;
      return { title: `Unknown: ${lowerFirst(name)}`, says: `${says}${vouched}`, advice };
    }
    case 'pending':
      return {
        title: 'Waiting for the owner',
        says: 'The owner of the line has a question on their phone. The answer comes here by itself.',
        advice: 'Leave this open. Asking again would ring no second time.',
      };
    case 'needsConsent':
      return {
        title: 'Needs the owner’s consent',
        says: 'This operator answers only when the owner of the line agrees.',
        advice: 'Ask only if the customer expects it: asking rings their phone.',
      };
    case 'asking':
      return { title: 'Asking …', says: 'The operator is being asked.', advice: '' };
    case 'waiting':
      return { title: 'Not asked yet', says: 'Nothing is known of this number.', advice: '' };
    case 'clear':
      return {
        title: 'No change in 30 days',
        says: 'The operator vouches that this number stayed on its SIM card for the last 30 days.',
        advice: 'The SIM is no reason to distrust an SMS code to this number.',
      };
  }
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
