import { useState, type FormEvent } from 'react';
import { Button, FieldError, Input, Label, Text, TextField } from 'react-aria-components';
import type { DeskRow } from '../model/deskRow.ts';
import { grouped, readNumber, saysOfBadNumber, type Completion } from '../model/phoneNumber.ts';
import { outcomeOf, verdictName, verdictOf } from '../model/verdict.ts';
import { useAsk } from './ask.ts';
import { CaseView } from './CaseView.tsx';
import { useDesk, useDeskState } from './hooks.ts';
import { OutcomeIcon, toneOf } from './icons.tsx';
import { timeName } from './names.ts';
import { SignedOutBanner } from './SignedOutBanner.tsx';
import { CompletionSelect } from './Upload.tsx';

/** One number, typed in: what an analyst works with. */
export function SingleCase() {
  const desk = useDesk();
  const ask = useAsk();
  const { rows, isSignedOut } = useDeskState();
  const [text, setText] = useState('');
  const [completion, setCompletion] = useState<Completion | null>(null);
  const [problem, setProblem] = useState<string>();
  const [chosen, setChosen] = useState<number>();
  const row = rows.find(({ id }) => id === chosen);
  const plain = readNumber(text);
  const needsCountry = plain.kind === 'bad' && plain.why === 'noCountryCode';

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const reading = readNumber(text, completion);
    if (reading.kind === 'bad') {
      setProblem(reading.why === 'empty' ? 'Type a number.' : saysOfBadNumber(reading.why, text));
      return;
    }
    setProblem(undefined);
    ask.withPurpose(() => {
      const id = desk.add(reading.e164);
      setChosen(id);
      void desk.checkAgain(id);
    });
  };

  return (
    <div className="single" data-has-checks={rows.length > 0 || undefined}>
      <h1 className="single__title">Check a number</h1>
      <form className="single__form" onSubmit={submit} autoComplete="off" noValidate>
        <TextField
          className="field single__field"
          value={text}
          onChange={setText}
          isInvalid={problem !== undefined}
          autoComplete="off"
          type="tel"
        >
          <Label className="visually-hidden">Phone number</Label>
          <Input className="input input--large" placeholder="+44 7700 900123" spellCheck="false" />
          <Text slot="description" className="field__hint">
            With + and country code, or choose the country of a national number. If the operator
            needs the owner’s consent, you are asked before anyone is prompted.
          </Text>
          <FieldError className="field__error">{problem}</FieldError>
        </TextField>
        {needsCountry ? (
          <CompletionSelect count={1} completion={completion} onCompletion={setCompletion} />
        ) : null}
        <Button className="button button--primary button--large" type="submit">
          Check
        </Button>
      </form>
      {isSignedOut ? (
        <SignedOutBanner
          onRenewed={() => {
            desk.resume();
            if (row !== undefined) void desk.checkAgain(row.id);
          }}
        />
      ) : null}
      {row === undefined ? (
        <p className="single__empty">
          Type a number to see whether its SIM changed in the last 24 hours, 72 hours, 7 or 30 days.
        </p>
      ) : (
        <section className="card single__case" aria-label="Case">
          <CaseView key={row.id} row={row} />
        </section>
      )}
      {rows.length === 0 ? null : <Checked rows={rows} chosen={row?.id} onChoose={setChosen} />}
    </div>
  );
}

interface CheckedProps {
  readonly rows: readonly DeskRow[];
  readonly chosen: number | undefined;
  readonly onChoose: (id: number) => void;
}

/** What was checked here since the page was opened, the latest number first. */
function Checked({ rows, chosen, onChoose }: CheckedProps) {
  const { checks } = useAsk();
  return (
    <section className="checked" aria-labelledby="checked">
      <h2 id="checked" className="checked__title">
        Checked in this session
      </h2>
      <ul>
        {rows.toReversed().map(({ id, e164, state }) => {
          const verdict = verdictOf(state);
          const outcome = outcomeOf(verdict);
          const latest = checks.latest(e164);
          return (
            <li key={id}>
              <Button
                className="checked__check"
                data-tone={toneOf(outcome)}
                {...(id === chosen ? { 'aria-current': true } : {})}
                onPress={() => onChoose(id)}
              >
                <OutcomeIcon outcome={outcome} />
                <span className="checked__number">{grouped(e164)}</span>
                <span className="checked__says">
                  {verdictName(verdict)}
                  {latest === undefined ? '' : ` · ${timeName(latest.atMs)}`}
                </span>
              </Button>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
