import { useEffect, useMemo, useRef, useState } from 'react';
import { browserClock } from '../asking/browserClock.ts';
import { Desk, SessionChecks } from '../asking/desk.ts';
import { createQuestions } from '../asking/questions.ts';
import { readSession, type Session, type SessionReply } from '../session.ts';
import { AskContext, type Ask } from './ask.ts';
import { arrive, useHere } from './here.ts';
import { DeskContext, NowContext, useTicking } from './hooks.ts';
import { ListDesk } from './ListDesk.tsx';
import { SignedOut } from './SignedOut.tsx';
import { SingleCase } from './SingleCase.tsx';
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
      return <SignedOut />;
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
  const [purposeId, setPurposeId] = useState<string | null>(null);
  const [afterPurpose, setAfterPurpose] = useState<() => void>();
  const token = useRef(session.csrfToken);
  const chosen = useRef<string | null>(null);
  const [desks] = useState(() => makeDesks(token, chosen));
  const [isArrived, setIsArrived] = useState(false);
  const { place } = useHere();

  useEffect(() => {
    arrive(session.mayBatch ? ['list', 'single'] : ['single']);
    setIsArrived(true);
  }, [session.mayBatch]);

  useEffect(() => {
    // What was answered was billed.
    const ask = (event: BeforeUnloadEvent): void => {
      if (desks.list.state().rows.length > 0 || desks.single.isUnderWay()) event.preventDefault();
    };
    // Nothing is left after closing, nor in the copy of the page that a browser keeps for its back button.
    const forget = (): void => desks.forget();
    window.addEventListener('beforeunload', ask);
    window.addEventListener('pagehide', forget);
    return () => {
      window.removeEventListener('beforeunload', ask);
      window.removeEventListener('pagehide', forget);
    };
  }, [desks]);

  const purpose = session.purposes.find(({ id }) => id === purposeId)?.label ?? null;
  const ask = useMemo<Ask>(
    () => ({
      session,
      checks: desks.checks,
      purpose,
      withPurpose(then) {
        if (chosen.current === null) setAfterPurpose(() => then);
        else then();
      },
      async renewSession() {
        const reply = await readSession();
        if (reply.kind !== 'signedIn') return false;
        // Signing out needs the token as well. Under another's name nothing of this desk is shown or checked.
        const isSamePerson = reply.session.id === session.id;
        if (isSamePerson) token.current = reply.session.csrfToken;
        else desks.forget();
        onSession(reply.session);
        return isSamePerson;
      },
    }),
    [desks, onSession, purpose, session],
  );

  const choose = (id: string): void => {
    chosen.current = id;
    setPurposeId(id);
    setAfterPurpose(undefined);
    afterPurpose?.();
  };

  return (
    <NowContext value={nowMs}>
      <AskContext value={ask}>
        <TopBar
          listDesk={desks.list}
          purposeId={purposeId}
          onPurpose={choose}
          isPurposeMissing={afterPurpose !== undefined}
          onPurposeLeft={() => setAfterPurpose(undefined)}
          onSignOut={() => desks.forget()}
        />
        {isArrived ? (
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
        ) : null}
      </AskContext>
    </NowContext>
  );
}

interface Ref<T> {
  readonly current: T;
}

/** Two desks, and what they share. */
function makeDesks(token: Ref<string>, purposeId: Ref<string | null>) {
  const checks = new SessionChecks();
  const make = (): Desk => {
    const questions = createQuestions({
      csrfToken: () => token.current,
      purpose: () => purposeId.current ?? '',
      onQuotas: (quotas) => {
        for (const desk of [single, list]) desk.setQuotas(quotas);
      },
    });
    return new Desk(questions, browserClock, checks);
  };
  const single = make();
  const list = make();
  const forget = (): void => {
    for (const each of [single, list, checks]) each.clear();
  };
  return { single, list, checks, forget };
}
