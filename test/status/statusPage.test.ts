import { expect, it } from 'vitest';
import { statusPage } from '../../src/status/statusPage.ts';
import type { StatusReport } from '../../src/status/statusReport.ts';

const NASTY = `<script>alert("1")</script> & 'so on'`;

const REPORT: StatusReport = {
  at: '2026-01-15T12:00:00.000Z',
  startedAt: '2026-01-15T11:00:00.000Z',
  service: { status: 'starting', waitingFor: [NASTY] },
  operators: [
    {
      name: NASTY,
      flow: '3-legged',
      endpoints: [
        {
          name: NASTY,
          circuit: 'open',
          circuitSince: '2026-01-15T11:30:00.000Z',
          exchanges: 12,
          failed: 3,
          lastFailure: { at: '2026-01-15T11:30:00.000Z', outcome: NASTY },
          connections: { http1: 1, spare: 2, http2: 3, streams: 4 },
        },
      ],
      queues: [{ work: NASTY, underWay: 1, waiting: 2 }],
      consents: { waiting: 1, outcomes: { [NASTY]: 2 } },
    },
  ],
  refusals: [
    {
      kind: 'operator',
      at: '2026-01-15T11:30:00.000Z',
      operator: NASTY,
      event: NASTY,
      code: 'OPERATOR_REFUSED',
      request: NASTY,
    },
    { kind: 'caller', at: '2026-01-15T11:30:00.000Z', reason: 'no-token' },
  ],
};

it('escapes all that it shows', () => {
  const page = statusPage(REPORT);
  expect(page).not.toMatch(/<script|alert\("1"\)|'so on'/);
  expect(page).toContain('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;so on&#39;');
});

it('says in words what it shows, with heads for those who hear it', () => {
  const page = statusPage(REPORT);
  expect(page).toContain('<html lang="en">');
  expect(page).toContain(
    '<time datetime="2026-01-15T11:30:00.000Z">2026-01-15 11:30:00 UTC</time>',
  );
  expect(page.match(/<table>/g)).toHaveLength(page.match(/<caption>/g)?.length ?? 0);
  expect(page.match(/<tr><th scope="row">/g)).toHaveLength(6);
});
