import { useEffect, useMemo, useState, type ReactNode } from 'react';
import { codesAt } from '../app/codeReply.ts';
import { screen } from '../app/screen.ts';
import { useSmsCode, type SmsCodeState } from '../app/useSmsCode.ts';
import type { Person } from '../people.ts';

/** The app of the person who holds the phone. Another person is another app: nobody reads another's screen. */
export function Phone({ holder }: { readonly holder: Person }) {
  return (
    <section className="phone" aria-label={`The phone of ${holder.subject}`}>
      <div className="phone__bar" aria-hidden="true">
        <span>Example Bank</span>
        <span className="phone__camera" />
      </div>
      <App key={holder.subject} holder={holder} />
    </section>
  );
}

function App({ holder }: { readonly holder: Person }) {
  // The same function as long as the same user is signed in.
  const requestCode = useMemo(() => codesAt('', () => accessTokenOf(holder)), [holder]);
  const { state, ask, cancel } = useSmsCode(requestCode, { isInFront: useIsInFront() });
  const [isAtItsEnd, setIsAtItsEnd] = useState(false);
  const startAgain = () => {
    setIsAtItsEnd(false);
    cancel();
  };
  const passkey = (look: string) => (
    <button type="button" className={look} onClick={() => setIsAtItsEnd(true)}>
      Use a passkey
    </button>
  );
  if (isAtItsEnd) {
    return (
      <Screen icon="·" title="The example ends here">
        <p>To check the code, or a passkey, is for your app and your server to add.</p>
        <button type="button" onClick={startAgain}>
          Start again
        </button>
      </Screen>
    );
  }
  return (
    <CodeScreen
      {...{ state, ask, startAgain, passkey, holder }}
      onCode={() => setIsAtItsEnd(true)}
    />
  );
}

interface CodeScreenProps {
  readonly holder: Person;
  readonly state: SmsCodeState;
  readonly ask: () => void;
  readonly startAgain: () => void;
  readonly onCode: () => void;
  readonly passkey: (look: string) => ReactNode;
}

/** One screen for each kind of reply, with the words of app/screen.ts. */
function CodeScreen({ holder, state, ask, startAgain, onCode, passkey }: CodeScreenProps) {
  switch (state.kind) {
    case 'idle':
    case 'asking':
      return (
        <Screen icon="✓" title="Confirm that it is you">
          <p>We send a code by SMS to your number.</p>
          <p className="number">{spaced(holder.phoneNumber)}</p>
          <button type="button" onClick={ask} disabled={state.kind === 'asking'}>
            {state.kind === 'asking' ? 'One moment …' : 'Send me a code'}
          </button>
        </Screen>
      );
    case 'pending':
      return (
        <Screen icon="…" title="Look at your phone" isBusy>
          <p>{screen(state)}</p>
          {state.offersAnotherWay ? passkey('quiet') : null}
          <button type="button" className="quiet" onClick={startAgain}>
            Cancel
          </button>
        </Screen>
      );
    case 'sent':
      return (
        <Screen icon="✉" title="Enter your code">
          <p>{screen(state)}</p>
          <form action={onCode}>
            <label>
              Code
              <input inputMode="numeric" autoComplete="one-time-code" maxLength={6} required />
            </label>
            <button type="submit">Continue</button>
          </form>
          <button type="button" className="quiet" onClick={startAgain}>
            Start again
          </button>
        </Screen>
      );
    case 'anotherWay':
    case 'tooManyCodes':
    case 'signedOut':
      return (
        <Screen icon="⌁" title={TITLE[state.kind]}>
          <p>{screen(state)}</p>
          {passkey('')}
          <button type="button" className="quiet" onClick={startAgain}>
            Start again
          </button>
        </Screen>
      );
  }
}

const TITLE = {
  anotherWay: 'Sign in another way',
  tooManyCodes: 'Too many codes',
  signedOut: 'Sign in',
} as const;

interface ScreenProps {
  readonly icon: string;
  readonly title: string;
  readonly isBusy?: boolean;
  readonly children: ReactNode;
}

function Screen({ icon, title, isBusy = false, children }: ScreenProps) {
  return (
    <div className="screen" aria-live="polite">
      <span className="screen__icon" data-busy={isBusy || undefined} aria-hidden="true">
        {icon}
      </span>
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** Whether the page is seen: on a phone, whether the app is in front. */
function useIsInFront(): boolean {
  const [isInFront, setIsInFront] = useState(!document.hidden);
  useEffect(() => {
    const update = () => setIsInFront(!document.hidden);
    document.addEventListener('visibilitychange', update);
    return () => document.removeEventListener('visibilitychange', update);
  }, []);
  return isInFront;
}

async function accessTokenOf({ subject }: Person): Promise<string> {
  const reply = await fetch(`/access-token?who=${subject}`, { method: 'POST' });
  return reply.text();
}

/** +44 7700 900050 */
function spaced(e164: string): string {
  return e164.replace(/^(\+44)(\d{4})(\d+)$/, '$1 $2 $3');
}
