import type { Outage } from '../model/outage.ts';
import type { Away } from '../model/reasons.ts';
import { useDesk, useDeskState } from './hooks.ts';
import { OutcomeIcon } from './icons.tsx';
import { countName, timeName } from './names.ts';
import { SignedOutBanner } from './SignedOutBanner.tsx';

const IS_AWAY: Readonly<Record<Away, string>> = {
  page: 'This page has no connection.',
  service: 'The service cannot be reached.',
  operator: 'The operator cannot be reached.',
};

const WAS_AWAY: Readonly<Record<Away, string>> = {
  page: 'This page had no connection.',
  service: 'The service could not be reached.',
  operator: 'The operator could not be reached.',
};

/** What concerns the whole list is said once, above it. */
export function RunBanners({ outage }: { readonly outage: Outage | null }) {
  const desk = useDesk();
  const { run, quotas, isSignedOut } = useDeskState();
  if (isSignedOut) return <SignedOutBanner onRenewed={() => desk.resume()} />;
  if (run.kind === 'paused' && run.why === 'quota') {
    const spent = quotas.find(({ left }) => left === 0);
    return (
      <div className="banner" role="alert">
        <p className="banner__text">
          <b>Quota exceeded.</b> Checking is paused
          {spent === undefined ? '' : ` until the quota refills at ${timeName(spent.refillsAtMs)}`}.
          Answers so far are kept.
        </p>
      </div>
    );
  }
  // While answers come nobody is away: a run that meets an outage pauses.
  if (outage === null || run.kind === 'asking') return null;
  const isPaused = run.kind === 'paused' && run.why === 'outage';
  return (
    <div className="banner" role="alert">
      <OutcomeIcon outcome="unknown" />
      <p className="banner__text">
        <b>{(isPaused ? IS_AWAY : WAS_AWAY)[outage.away]}</b> {countName(outage.rows, 'number')} got
        no answer: unknown is not safe.{isPaused ? ' Checking is paused until you resume it.' : ''}
      </p>
    </div>
  );
}
