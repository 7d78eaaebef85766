import { useState } from 'react';
import { Button, Label, Radio, RadioGroup, Text } from 'react-aria-components';
import { adviceOn } from '../model/advice.ts';
import type { DeskRow } from '../model/deskRow.ts';
import { grouped } from '../model/phoneNumber.ts';
import { reasonOf } from '../model/reasons.ts';
import { agoName, freshnessOf } from '../model/staleness.ts';
import { outcomeOf, verdictOf } from '../model/verdict.ts';
import {
  asOfMs,
  LONGEST_WINDOW_HOURS,
  WINDOWS_HOURS,
  windowName,
  type Answer,
  type LastChange,
  type WindowAnswer,
  type WindowHours,
} from '../model/windows.ts';
import { useAsk } from './ask.ts';
import { useDesk, useNow, useRow } from './hooks.ts';
import { ClockIcon, OutcomeIcon, RetryIcon } from './icons.tsx';
import { dateTimeName, timeName } from './names.ts';
import { Timeline } from './Timeline.tsx';

/** One number, in full: what the operator said, when, and what to do. */
export function CaseView({ id, headingLevel }: { readonly id: number; readonly headingLevel: 2 }) {
  const row = useRow(id);
  if (row === undefined) return null;
  return <Case row={row} Heading={`h${headingLevel}`} />;
}

function Case({ row, Heading }: { readonly row: DeskRow; readonly Heading: 'h2' }) {
  const verdict = verdictOf(row.state);
  const outcome = outcomeOf(verdict);
  const { title, says, advice } = adviceOn(verdict);
  const answer = row.state.kind === 'answered' ? row.state.answer : undefined;
  return (
    <div className="case">
      <div className="case__who">
        <p className="case__number">{grouped(row.e164)}</p>
        <p className="case__customer">{customerName(row)}</p>
      </div>
      <div className="verdict" data-outcome={outcome} role="status">
        <span className="verdict__icon" data-busy={verdict.kind === 'asking' || undefined}>
          <OutcomeIcon outcome={outcome} />
        </span>
        <div>
          <Heading className="verdict__title">{title}</Heading>
          <p className="verdict__says">{says}</p>
          {verdict.kind === 'pending' && verdict.expiresAtMs !== null ? (
            <p className="verdict__says">They can answer until {timeName(verdict.expiresAtMs)}.</p>
          ) : null}
        </div>
      </div>
      {advice === '' ? null : (
        <div className="case__advice">
          <h3>What to do</h3>
          <p>{advice}</p>
        </div>
      )}
      {answer === undefined ? null : <Said answer={answer} />}
      <CaseActions row={row} />
    </div>
  );
}

function customerName({ customer }: DeskRow): string {
  if (customer === undefined) return 'Customer not looked up yet';
  return customer === null
    ? 'No customer has this number'
    : `${customer.name} · customer ${customer.id}`;
}

function Said({ answer }: { readonly answer: Answer }) {
  const nowMs = useNow();
  const askedAtMs = asOfMs(answer);
  return (
    <section className="case__said" aria-label="What the operator said">
      <Timeline windows={answer.windows} lastChange={answer.lastChange} nowMs={nowMs} />
      <h3>What the operator said</h3>
      <dl className="facts">
        {WINDOWS_HOURS.map((hours) => (
          <div key={hours} className="facts__row">
            <dt>Changed within {windowName(hours)}</dt>
            <dd>
              <WindowFact window={answer.windows[hours]} />
            </dd>
          </div>
        ))}
        <div className="facts__row">
          <dt>Last SIM change</dt>
          <dd>
            <DateFact lastChange={answer.lastChange} nowMs={nowMs} />
          </dd>
        </div>
      </dl>
      {answer.lastChange.kind === 'at' ? (
        <p className="case__note">
          For a line that never had a swap, operators give the moment at which its SIM was
          activated.
        </p>
      ) : null}
      {askedAtMs === null ? null : <Freshness askedAtMs={askedAtMs} nowMs={nowMs} />}
    </section>
  );
}

function Freshness({ askedAtMs, nowMs }: { readonly askedAtMs: number; readonly nowMs: number }) {
  const freshness = freshnessOf(askedAtMs, nowMs);
  return (
    <p className="case__asof" data-freshness={freshness}>
      <ClockIcon /> Asked {dateTimeName(askedAtMs)} ({agoName(askedAtMs, nowMs)}).{' '}
      {freshness === 'stale' ? <b>This is stale: ask again before you rely on it.</b> : null}
    </p>
  );
}

function WindowFact({ window }: { readonly window: WindowAnswer }) {
  switch (window.kind) {
    case 'swapped':
      return (
        <span className="fact" data-outcome="swapped">
          <OutcomeIcon outcome="swapped" /> Yes
        </span>
      );
    case 'notSwapped':
      return (
        <span className="fact" data-outcome="clear">
          <OutcomeIcon outcome="clear" /> No
        </span>
      );
    case 'unknown':
      return (
        <span className="fact" data-outcome="unknown">
          <OutcomeIcon outcome="unknown" /> Unknown: {reasonOf(window.reason).says}
          {window.maxAgeHours === null
            ? null
            : ` It answers up to ${windowName(window.maxAgeHours)}.`}
        </span>
      );
    case 'notAsked':
      return (
        <span className="fact" data-outcome="open">
          <OutcomeIcon outcome="open" /> Not asked
        </span>
      );
  }
}

function DateFact({
  lastChange,
  nowMs,
}: {
  readonly lastChange: LastChange;
  readonly nowMs: number;
}) {
  switch (lastChange.kind) {
    case 'at':
      return (
        <span>
          {dateTimeName(lastChange.atMs)} ({agoName(lastChange.atMs, nowMs)})
        </span>
      );
    case 'withheld':
      return <span>The operator may not disclose it. That does not mean that there was none.</span>;
    case 'unknown':
      return (
        <span className="fact" data-outcome="unknown">
          <OutcomeIcon outcome="unknown" /> Unknown: {reasonOf(lastChange.reason).says}
        </span>
      );
    case 'notAsked':
      return <span>Not asked: that would have rung the phone once more.</span>;
  }
}

function CaseActions({ row }: { readonly row: DeskRow }) {
  const desk = useDesk();
  const ask = useAsk();
  const verdict = verdictOf(row.state);
  const asksOwner =
    verdict.kind === 'needsConsent' ||
    (row.state.kind === 'answered' && row.state.answer.lastChange.kind === 'notAsked') ||
    (verdict.kind === 'unknown' && verdict.reason === 'CONSENT_EXPIRED');
  if (verdict.kind === 'asking' || verdict.kind === 'pending') return null;
  if (asksOwner) return <AskOwner row={row} />;
  return (
    <div className="case__actions">
      <Button
        className="button button--primary"
        onPress={() => {
          if (ask.mayAsk()) void desk.askAgain(row.id);
        }}
      >
        <RetryIcon /> {verdict.kind === 'waiting' ? 'Ask' : 'Ask again'}
      </Button>
    </div>
  );
}

/** A question that rings a phone says so, and asks for one window alone: each further one rings again. */
function AskOwner({ row }: { readonly row: DeskRow }) {
  const desk = useDesk();
  const ask = useAsk();
  const [hours, setHours] = useState<WindowHours>(LONGEST_WINDOW_HOURS);
  const isFirst = row.state.kind === 'needsConsent';
  return (
    <div className="case__actions case__actions--owner">
      <RadioGroup
        className="segments"
        value={String(hours)}
        onChange={(value) => {
          const chosen = WINDOWS_HOURS.find((one) => String(one) === value);
          if (chosen !== undefined) setHours(chosen);
        }}
      >
        <Label className="field__label">Changed within</Label>
        <div className="segments__list">
          {WINDOWS_HOURS.map((one) => (
            <Radio key={one} value={String(one)} className="segment">
              {windowName(one)}
            </Radio>
          ))}
        </div>
        <Text slot="description" className="field__hint">
          One question, one prompt. A “no” for 30 days answers the shorter windows too.
        </Text>
      </RadioGroup>
      <Button
        className="button button--consent"
        onPress={() => {
          if (ask.mayAsk()) void desk.askOwner(row.id, hours);
        }}
      >
        <OutcomeIcon outcome="consent" />{' '}
        {isFirst ? 'Ask the owner: rings their phone' : 'Ask the owner: rings their phone again'}
      </Button>
    </div>
  );
}
