import { setTimeout as sleep } from 'node:timers/promises';
import { answerJson } from '../../http/recordingServer.ts';
import type { Attack } from '../attack.ts';
import { pend, type OperatorScript } from '../../wiredOperator.ts';
import { number, times, within } from '../values.ts';

const QUOTA = 200;
const STATE = (e164: string): string =>
  `{ phoneNumber(e164: "${e164}") { simSwapConsent { state retryAfterSeconds expiresAt } } }`;

export const consentScan: Attack = {
  name: 'consent-scan',
  tries: 'to learn by simSwapConsent who is asked, by whom, and who has denied',
  holds: "it counts as any number does, is audited, and tells another's consent as PENDING alone",
  async run(stage) {
    const script: OperatorScript = {
      token: (received, response) => {
        if (received.body.includes('denied'))
          answerJson(received, response, { error: 'access_denied' }, 400);
        else pend(received, response);
      },
      authorize: (received, response) => {
        const isDenied = received.body.includes('447700900901');
        const auth_req_id = `${isDenied ? 'denied' : 'open'}-${received.correlator}`;
        answerJson(received, response, { auth_req_id, expires_in: 60, interval: 1 });
      },
    };
    const settings = {
      OPERATOR_FLOW: '3-legged',
      CONSENT_WAIT_MS: '1500',
      QUOTA_NUMBERS_PER_HOUR: String(QUOTA),
    };
    const { issuer, target } = await stage.callers(settings, { script });
    const bank = await issuer.token({ scope: 'sim-swap:read', sub: 'bank' });
    const spy = await issuer.token({ scope: 'sim-swap:read', sub: 'spy' });
    const [denied, open] = [number(901), number(902)];
    await Promise.all([denied, open].map((e164) => target.ask(within(e164), { token: bank })));
    await sleep(100);
    for (const [what, e164] of [
      ['denial', denied],
      ['consent', open],
    ] as const) {
      const state = await target.ask(STATE(e164), { token: spy });
      const shown = (state.data?.['phoneNumber'] as { simSwapConsent?: object } | null)
        ?.simSwapConsent;
      stage.equals(`another's ${what} reads`, shown, {
        state: 'PENDING',
        retryAfterSeconds: 60,
        expiresAt: null,
      });
      const { extensions } = await target.ask(within(e164), { token: spy });
      const [told] = extensions;
      stage.equals(
        `another's ${what} fails as`,
        [told?.['code'], told?.['retryAfterSeconds'], told?.['expiresAt'] ?? null],
        ['CONSENT_PENDING', 60, null],
      );
    }
    const linesBefore = target.linesWith('"audit":');
    let told = 0;
    for (let from = 0; from < 800; from += 100) {
      const query = `{ ${times(100, (index) => `a${index}: phoneNumber(e164: "${number(from + index)}") { simSwapConsent { state } }`)} }`;
      const { data } = await target.ask(query, { token: spy });
      told += Object.values(data ?? {}).filter(
        (one) =>
          typeof (one as { simSwapConsent?: unknown } | null)?.simSwapConsent === 'object' &&
          (one as { simSwapConsent?: unknown }).simSwapConsent !== null,
      ).length;
    }
    stage.atMost('numbers told of 800', told, QUOTA);
    stage.holds(
      'audited lines',
      target.linesWith('"audit":') - linesBefore >= told,
      target.linesWith('"audit":') - linesBefore,
    );
  },
};
