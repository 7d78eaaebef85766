import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Attack } from '../attack.ts';
import { acknowledge, grant, pend, type OperatorScript } from '../../wiredOperator.ts';
import { answerIn, number, within } from '../values.ts';

interface Line {
  readonly audit: string;
  readonly event: string;
  readonly outcome?: string;
  readonly purpose: string;
  /** Absent in the line of a start. */
  readonly correlator?: string;
}

const FRAUD = 'fraud-prevention';
const RESEARCH = 'marketing-research';

export const joinedAudited: Attack = {
  name: 'joined-audited',
  tries: "to hear an answer off the record, by joining another request's consent",
  holds:
    'each request that heard an answer has a line with its own correlator and purpose; one prompt',
  async run(stage) {
    const file = join(await stage.directory(), 'audit.jsonl');
    let isConsentGiven = false;
    const script: OperatorScript = {
      authorize: acknowledge,
      token: (received, response) => (isConsentGiven ? grant : pend)(received, response),
    };
    const settings = {
      AUDIT_LOG: file,
      OPERATOR_FLOW: '3-legged',
      PURPOSES: `${FRAUD},${RESEARCH}`,
      CONSENT_WAIT_MS: '8000',
    };
    const { operator, target, token } = await stage.callers(settings, { script });
    const ask = (name: string, purpose = FRAUD) =>
      target.ask(within(number(4)), {
        token,
        headers: { 'x-correlator': name, 'x-purpose': purpose },
      });
    const one = ask('first');
    while (operator.count('prompts') === 0) await sleep(50);
    const joined = ask('second');
    // It learns at once that another caller's consent is pending.
    const other = await ask('other', RESEARCH);
    isConsentGiven = true;
    const [first, second] = await Promise.all([one, joined]);
    const third = await ask('third');
    const heard = Object.entries({ first, second, other, third });
    const lines = (await readFile(file, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Line);
    for (const [name, reply] of heard) {
      const answer = answerIn(reply);
      const own = lines.filter(({ correlator }) => correlator?.startsWith(name) === true);
      const told = own.filter(tellsAnAnswer).length;
      stage.holds(
        `${name}: ${String(answer)}, lines`,
        typeof answer !== 'boolean' || told > 0,
        told,
      );
      const purposes = new Set(own.map(({ purpose }) => purpose));
      purposes.delete(name === 'other' ? RESEARCH : FRAUD);
      stage.equals(`${name}: foreign purposes`, [...purposes], []);
    }
    stage.equals('the first was answered', answerIn(first), false);
    stage.atMost('prompts', operator.count('prompts'), 1);
  },
};

/** A lookup of its own, or an answer that it shared or that was kept for it. */
function tellsAnAnswer({ audit, event, outcome }: Line): boolean {
  return audit === 'shared' || audit === 'kept' || (event === 'lookup' && outcome === 'answered');
}
