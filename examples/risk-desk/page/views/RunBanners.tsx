import { useDesk, useDeskState } from './hooks.ts';
import { OutcomeIcon } from './icons.tsx';
import { countName, timeName } from './names.ts';
import { SignedOutBanner } from './SignedOutBanner.tsx';

/** What concerns the whole list is said once, above it; `away` rows have no new answer for an outage. */
export function RunBanners({ away }: { readonly away: number }) {
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
  if (away === 0) return null;
  const isPaused = run.kind === 'paused' && run.why === 'outage';
  return (
    <div className="banner" role="alert">
      <OutcomeIcon outcome="unknown" />
      <p className="banner__text">
        <b>The operator cannot be reached.</b> {countName(away, 'number')} got no answer: unknown is
        not safe.{isPaused ? ' Checking is paused until you resume it.' : ''}
      </p>
    </div>
  );
}
