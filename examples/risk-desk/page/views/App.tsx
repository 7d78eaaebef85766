import { useEffect, useMemo, useRef, useState } from 'react';
import { browserClock } from '../asking/browserClock.ts';
import { Desk } from '../asking/desk.ts';
import { createQuestions } from '../asking/questions.ts';
import { readSession, type Session, type SessionReply } from '../session.ts';
import { AskContext, type Ask } from './ask.ts';
import { DeskContext, NowContext, useTicking } from './hooks.ts';
import { ListDesk } from './ListDesk.tsx';
import { SingleCase } from './SingleCase.tsx';
import { ToggleButton, ToggleButtonGroup } from 'react-aria-components';
import { TopBar } from './TopBar.tsx';

export function App() {
  const [reply, setReply] = useState<SessionReply>();
  const read = (): void => void readSession().then(setReply);
  useEffect(read, []);
  switch (reply?.kind) {
    case undefined:
      return <main className="notice" aria-busy="true" />;
    case 'signedIn':
      // Another person starts with an empty desk.
      return (
        <SignedIn
          key={reply.session.id}
          session={reply.session}
          onSession={(session) => setReply({ kind: 'signedIn', session })}
        />
      );
    case 'signedOut':
      return (
        <main className="notice">
          <p className="notice__brand">Risk desk</p>
          <h1>Has this SIM changed hands?</h1>
          <p>
            Ask mobile operators whether a number was moved to another SIM card lately, before you
            trust an SMS code. Every question is on record, with its purpose.
          </p>
          <a className="button button--primary button--large" href="/sign-in">
            Sign in
          </a>
        </main>
      );
    case 'unreachable':
      return (
        <main className="notice" role="alert">
          <h1>The desk cannot be reached</h1>
          <p>Check your connection, then try again.</p>
          <button className="button button--primary" type="button" onClick={read}>
            Try again
          </button>
        </main>
      );
  }
}

interface SignedInProps {
  readonly session: Session;
  /** The session that a sign-in in another tab began, of this person or of another. */
  readonly onSession: (session: Session) => void;
}

function SignedIn({ session, onSession }: SignedInProps) {
  const nowMs = useTicking();
  const [place, setPlace] = useState<Place>(session.mayBatch ? 'list' : 'single');
  const [purpose, setPurpose] = useState<string | null>(null);
  const [isPurposeMissing, setIsPurposeMissing] = useState(false);
  const token = useRef(session.csrfToken);
  const chosen = useRef<string | null>(null);
  const purposeField = useRef<HTMLButtonElement>(null);

  const [desks] = useState(() => {
    const make = (): Desk => {
      const questions = createQuestions({
        csrfToken: () => token.current,
        purpose: () => chosen.current ?? '',
        onQuotas: (quotas) => {
          for (const desk of Object.values(both)) desk.setQuotas(quotas);
        },
      });
      return new Desk(questions, browserClock);
    };
    const both = { single: make(), list: make() };
    return both;
  });

  // Nothing is left after closing, nor in the copy of the page that a browser keeps for its back button.
  useEffect(() => {
    const forget = (): void => {
      desks.single.clear();
      desks.list.clear();
    };
    window.addEventListener('pagehide', forget);
    return () => window.removeEventListener('pagehide', forget);
  }, [desks]);

  const ask = useMemo<Ask>(
    () => ({
      mayAsk() {
        if (chosen.current !== null) return true;
        setIsPurposeMissing(true);
        purposeField.current?.focus();
        return false;
      },
      async renewSession() {
        const reply = await readSession();
        if (reply.kind !== 'signedIn') return false;
        // Signing out needs the token as well. Under another's name nothing of this desk is shown or asked.
        const isSamePerson = reply.session.id === session.id;
        if (isSamePerson) token.current = reply.session.csrfToken;
        else for (const desk of Object.values(desks)) desk.clear();
        onSession(reply.session);
        return isSamePerson;
      },
    }),
    [desks, onSession, session.id],
  );

  const choose = (id: string): void => {
    chosen.current = id;
    setPurpose(id);
    setIsPurposeMissing(false);
  };

  return (
    <NowContext value={nowMs}>
      <AskContext value={ask}>
        <TopBar
          session={session}
          quotaDesk={desks.list}
          purpose={purpose}
          onPurpose={choose}
          isPurposeMissing={isPurposeMissing}
          purposeField={purposeField}
        />
        {session.mayBatch ? <PlaceSwitch place={place} onChange={setPlace} /> : null}
        <main className="desk">
          {session.mayBatch ? (
            <div className="desk__place" hidden={place !== 'list'}>
              <DeskContext value={desks.list}>
                <ListDesk />
              </DeskContext>
            </div>
          ) : null}
          <div className="desk__place" hidden={place !== 'single'}>
            <DeskContext value={desks.single}>
              <SingleCase />
            </DeskContext>
          </div>
        </main>
      </AskContext>
    </NowContext>
  );
}

type Place = 'list' | 'single';

interface PlaceSwitchProps {
  readonly place: Place;
  readonly onChange: (place: Place) => void;
}

/** Both places stay as they are while the other one is looked at. */
function PlaceSwitch({ place, onChange }: PlaceSwitchProps) {
  return (
    <nav>
      <ToggleButtonGroup
        className="places"
        aria-label="What to ask about"
        selectionMode="single"
        disallowEmptySelection
        selectedKeys={[place]}
        onSelectionChange={([key]) => onChange(key === 'single' ? 'single' : 'list')}
      >
        <ToggleButton id="list" className="places__place">
          A list
        </ToggleButton>
        <ToggleButton id="single" className="places__place">
          One number
        </ToggleButton>
      </ToggleButtonGroup>
    </nav>
  );
}
