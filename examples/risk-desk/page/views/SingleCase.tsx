import { useState, type FormEvent } from 'react';
import { Button, FieldError, Input, Label, Text, TextField } from 'react-aria-components';
import { readNumber, saysOfBadNumber } from '../model/phoneNumber.ts';
import { useAsk } from './ask.ts';
import { CaseView } from './CaseView.tsx';
import { useDesk, useDeskState } from './hooks.ts';
import { SignedOutBanner } from './SignedOutBanner.tsx';

/** One number, typed in: what an analyst works with. */
export function SingleCase() {
  const desk = useDesk();
  const ask = useAsk();
  const { rows, isSignedOut } = useDeskState();
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<string>();
  const [row] = rows;

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const reading = readNumber(text);
    if (reading.kind === 'bad') {
      setProblem(saysOfBadNumber(reading.why));
      return;
    }
    if (!ask.mayAsk()) return;
    setProblem(undefined);
    setText('');
    desk.load([{ e164: reading.e164, line: 1 }]);
    void desk.askList();
  };

  return (
    <div className="single">
      <h1 className="visually-hidden">One number</h1>
      <form className="single__form" onSubmit={submit} autoComplete="off" noValidate>
        <TextField
          className="field single__field"
          value={text}
          onChange={setText}
          isInvalid={problem !== undefined}
          autoComplete="off"
          type="tel"
        >
          <Label className="field__label">Phone number</Label>
          <Input className="input input--large" placeholder="+44 7700 900 123" spellCheck="false" />
          <Text slot="description" className="field__hint">
            With + and country code. It is asked about at once; a number that needs its owner’s
            consent waits for another click.
          </Text>
          <FieldError className="field__error">{problem}</FieldError>
        </TextField>
        <Button className="button button--primary button--large" type="submit">
          Ask
        </Button>
      </form>
      {isSignedOut ? (
        <SignedOutBanner
          onRenewed={() => {
            desk.resume();
            if (row !== undefined) void desk.askAgain(row.id);
          }}
        />
      ) : null}
      {row === undefined ? (
        <p className="single__empty">
          Ask about one number: has its SIM card changed within 24 hours, 72 hours, 7 or 30 days?
        </p>
      ) : (
        <section className="card single__case" aria-label="The case">
          <CaseView id={row.id} headingLevel={2} />
        </section>
      )}
    </div>
  );
}
