import type { StretchKind } from '../model/windows.ts';
import type { Outcome } from '../model/verdict.ts';
import { BrandMark, OutcomeIcon, toneOf } from './icons.tsx';

/** The way in: what it is for, and beside it what it looks like. */
export function SignedOut() {
  return (
    <main className="welcome">
      <div className="welcome__text">
        <p className="brand">
          <BrandMark /> Risk desk
        </p>
        <h1>Has this number moved to a new SIM?</h1>
        <p>
          Ask the mobile operator before you trust an SMS code: one number, or a list of thousands.
          Every check is logged with its purpose.
        </p>
        <a className="button button--primary button--large" href="/sign-in">
          Sign in
        </a>
      </div>
      <div className="peek card" aria-hidden="true">
        {EXAMPLES.map(([outcome, name, detail, parts]) => (
          <div key={outcome} className="peek__row" data-tone={toneOf(outcome)}>
            <span className="risk">
              <OutcomeIcon outcome={outcome} />
              <b>{name}</b>
              <span className="risk__detail">{detail}</span>
            </span>
            <span className="strip">
              {parts.map((kind, index) => (
                <span key={index} className="strip__part" data-kind={kind} />
              ))}
            </span>
          </div>
        ))}
      </div>
    </main>
  );
}

type Example = readonly [Outcome, string, string, readonly StretchKind[]];

const EXAMPLES: readonly Example[] = [
  ['within24h', 'SIM changed', 'within 24 h', ['earlier', 'earlier', 'earlier', 'swap']],
  ['within72h', 'SIM changed', 'within 72 h', ['earlier', 'earlier', 'swap', 'clear']],
  ['activated', 'New line', 'activated 5 days ago', ['earlier', 'activation', 'clear', 'clear']],
  ['unknown', 'Unknown', 'operator unavailable', ['notKnown', 'notKnown', 'notKnown', 'notKnown']],
  ['clear', 'No change', 'in 30 days', ['clear', 'clear', 'clear', 'clear']],
];
