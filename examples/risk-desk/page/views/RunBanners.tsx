import { useDesk, useDeskState } from './hooks.ts';
import { OutcomeIcon } from './icons.tsx';
import { countName, timeName } from './names.ts';
import { SignedOutBanner } from './SignedOutBanner.tsx';

/** What concerns the whole list is told once, above it; `away` rows have no answer for an outage. */
export function RunBanners({ away }: { readonly away: number }) {
  const desk = useDesk();
  const { run, quotas, isSignedOut } = useDeskState();
  if (isSignedOut) return <SignedOutBanner onRenewed={() => desk.resume()} />;
  if (run.kind === 'paused' && run.why === 'quota') {
    const spent = quotas.find(({ left }) => left === 0);
    return (
      <div className="banner banner--notice" role="alert">
        <div className="banner__text">
          <b>Your quota is spent.</b> Nothing more is asked
          {spent === undefined ? '' : ` until it refills at ${timeName(spent.refillsAtMs)}`}. Go on
          then; what was answered stays.
        </div>
      </div>
    );
  }
  if (away === 0) return null;
  const isPaused = run.kind === 'paused' && run.why === 'outage';
  return (
    <div className="banner banner--outage" role="alert">
      <OutcomeIcon outcome="unknown" />
      <div className="banner__text">
        <b>The operator cannot be reached.</b> {countName(away, 'number')} got no answer and{' '}
        {away === 1 ? 'is' : 'are'} unknown, not safe.
        {isPaused ? ' Nothing more is asked until you go on.' : ''}
      </div>
    </div>
  );
}
