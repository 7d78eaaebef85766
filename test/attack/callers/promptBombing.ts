import { answerJson } from '../../http/recordingServer.ts';
import type { Attack } from '../attack.ts';
import { pend, type OperatorScript } from '../../wiredOperator.ts';
import { number, times, within } from '../values.ts';

const A_CALLER = 10;
const IN_ALL = 20;
const TOKEN_ENDS = ['expired_token', 'invalid_grant'] as const;

/** Asks for one number, again and again, by every way to end a consent quickly. */
export const promptBombing: Attack = {
  name: 'prompt-bombing',
  tries:
    'to ring a phone as often as one likes, alone and with others, and to occupy a number for long',
  holds: `${A_CALLER} prompts a number and hour for a caller, ${IN_ALL} for all; no consent lives over 600 s`,
  async run(stage) {
    let polls = 0;
    const script: OperatorScript = {
      authorize: (received, response) => {
        const auth_req_id = `consent-${received.correlator}`;
        answerJson(received, response, { auth_req_id, expires_in: 1e9, interval: 1 });
      },
      token: (received, response) => {
        polls += 1;
        const error = TOKEN_ENDS[polls % TOKEN_ENDS.length];
        answerJson(received, response, { error }, 400);
      },
    };
    const settings = {
      OPERATOR_FLOW: '3-legged',
      CONSENT_WAIT_MS: '300',
      CONSENT_DENIED_SECONDS: '0',
    };
    const { issuer, operator, target } = await stage.callers(settings, { script });
    const victim = number(77);
    const bomb = async (sub: string): Promise<readonly string[]> => {
      const token = await issuer.token({ scope: 'sim-swap:read', sub });
      const heard = new Set<string>();
      for (let time = 0; time < 25; time += 1) {
        const { codes } = await target.ask(within(victim, 24 + time), { token });
        for (const code of codes) heard.add(code);
      }
      return [...heard];
    };
    const alone = await bomb('mallory');
    stage.atMost('prompts by one caller', operator.count('prompts'), A_CALLER);
    stage.holds('the caller hears', alone.includes('RATE_LIMITED'), alone);
    for (const sub of ['eve', 'trudy', 'oscar']) await bomb(sub);
    stage.atMost('prompts by all', operator.count('prompts'), IN_ALL);

    // Windows and aliases: one operation, many questions.
    const before = operator.count('prompts');
    const token = await issuer.token({ scope: 'sim-swap:read', sub: 'walter' });
    const fields = times(10, (index) => `a${index}: simSwappedWithin(maxAgeHours: ${index + 1})`);
    for (let time = 0; time < 15; time += 1) {
      await target.ask(`{ phoneNumber(e164: "${number(78)}") { lastSimSwap ${fields} } }`, {
        token,
      });
    }
    stage.atMost('prompts by many questions', operator.count('prompts') - before, A_CALLER);

    operator.script = { ...script, token: pend };
    const { extensions } = await target.ask(within(number(79)), { token });
    const expiresAt = String(extensions[0]?.['expiresAt']);
    stage.atMost('seconds that a consent lives', (Date.parse(expiresAt) - Date.now()) / 1000, 605);
  },
};
