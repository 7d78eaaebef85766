import { useState, type ReactNode } from 'react';
import { Button, Label, Radio, RadioGroup, Text } from 'react-aria-components';
import { adviceOn } from '../model/advice.ts';
import type { DeskRow } from '../model/deskRow.ts';
import { countryName, grouped } from '../model/phoneNumber.ts';
import { reasonOf } from '../model/reasons.ts';
import { agoName, freshnessOf } from '../model/staleness.ts';
import { answerOf, outcomeOf, refreshFailure, verdictOf } from '../model/verdict.ts';
import {
  activatedAtMs,
  asOfMs,
  isAnyKnown,
  LONGEST_WINDOW_HOURS,
  stretches,
  WINDOWS_HOURS,
  windowName,
  type Answer,
  type WindowHours,
} from '../model/windows.ts';
import { useAsk } from './ask.ts';
import { useDesk, useDeskState, useNow } from './hooks.ts';
import { CopyIcon, OutcomeIcon, RetryIcon, toneOf } from './icons.tsx';
import { dateTimeName, timeName } from './names.ts';
import { Timeline } from './Timeline.tsx';

/** One number, in full: what the operator said, when, and what to do. */
export function CaseView({ row }: { readonly row: DeskRow }) {
  const nowMs = useNow();
  const verdict = verdictOf(row.state);
  const outcome = outcomeOf(verdict);
  const { title, says, advice } = adviceOn(verdict, nowMs);
  const answer = answerOf(row.state);
  const refresh = refreshFailure(row.state);
  const checkedAtMs = answer === undefined ? null : asOfMs(answer);
  const freshness = checkedAtMs === null ? 'fresh' : freshnessOf(checkedAtMs, nowMs);
  return (
    <div className="case">
      <div className="case__who">
        <p className="case__number">
          {grouped(row.e164)} <Copy text={row.e164} what="number" />
        </p>
        <p className="case__customer">{whoHasIt(row)}</p>
      </div>
      <div
        className="verdict"
        data-outcome={outcome}
        data-tone={toneOf(outcome)}
        data-freshness={refresh === null ? freshness : 'stale'}
        data-busy={row.state.kind === 'asking' || verdict.kind === 'pending' || undefined}
        role="status"
      >
        <OutcomeIcon outcome={outcome} />
        <h2 className="verdict__title">{title}</h2>
        <p className="verdict__says">
          {says}
          {verdict.kind === 'pending' && verdict.expiresAtMs !== null
            ? ` They can respond until ${timeName(verdict.expiresAtMs)}.`
            : ''}
        </p>
        {advice === '' ? null : <p className="verdict__advice">{advice}</p>}
      </div>
      {refresh === null ? null : (
        <p className="case__refresh" role="alert">
          <b>Could not be refreshed.</b> {reasonOf(refresh).says}{' '}
          {checkedAtMs === null ? '' : `The answer above is from ${timeName(checkedAtMs)}.`}
        </p>
      )}
      {answer === undefined || !isAnyKnown(answer) ? null : <Timeline answer={answer} />}
      <StillUnknown row={row} answer={answer} />
      <CaseActions row={row} />
      <Facts row={row} answer={answer} />
      <OwnFacts own={row.own} />
    </div>
  );
}

/** Where a further check brought nothing either, that it was done is seen where its button is. */
function StillUnknown({ row, answer }: FactsProps) {
  const { checks } = useAsk();
  const latest = checks.latest(row.e164);
  const isAgain = checks.before(row.e164).length > 0;
  const isUnknown = row.state.kind === 'failed' || (answer !== undefined && !isAnyKnown(answer));
  if (latest === undefined || !isAgain || !isUnknown || refreshFailure(row.state) !== null) {
    return null;
  }
  return (
    <p className="case__refresh" role="alert">
      <b>Checked again at {timeName(latest.atMs)}.</b> Still no answer.
    </p>
  );
}

function whoHasIt({ customer, e164 }: DeskRow): string {
  const country = countryName(e164);
  const who =
    customer === undefined
      ? null
      : customer === null
        ? 'Not a customer’s number'
        : `${customer.name} · customer ${customer.id}`;
  return [who, country].filter((part) => part !== null).join(' · ');
}

interface FactsProps {
  readonly row: DeskRow;
  readonly answer: Answer | undefined;
}

function Facts({ row, answer }: FactsProps) {
  const { checks } = useAsk();
  const nowMs = useNow();
  const earlier = checks.before(row.e164);
  const checkedAtMs = answer === undefined ? null : asOfMs(answer);
  const freshness = checkedAtMs === null ? 'fresh' : freshnessOf(checkedAtMs, nowMs);
  return (
    <dl className="facts">
      {answer === undefined ? null : <DateFact answer={answer} nowMs={nowMs} />}
      {checkedAtMs === null ? null : (
        <Fact name="Checked">
          <span className="case__asof" data-freshness={freshness}>
            {dateTimeName(checkedAtMs)} ({agoName(checkedAtMs, nowMs)})
          </span>
          {freshness === 'stale' ? <b> Check again before you rely on it.</b> : null}
        </Fact>
      )}
      {earlier.length === 0 ? null : (
        <Fact name="Earlier in this session">
          {earlier
            .toReversed()
            .slice(0, MAX_EARLIER)
            .map(({ atMs, verdict }) => `${timeName(atMs)} ${verdict}`)
            .join(', ')}
        </Fact>
      )}
      {row.correlator === null ? null : (
        <Fact name="Reference">
          <code>{row.correlator}</code> <Copy text={row.correlator} what="reference" />
        </Fact>
      )}
    </dl>
  );
}

const MAX_EARLIER = 5;

/** The list's own columns; of a number with several rows, each that differs. */
function OwnFacts({ own }: Pick<DeskRow, 'own'>) {
  const { file } = useDeskState();
  if (file === null) return null;
  const facts = file.table.columns.flatMap((name, index) => {
    const cells = new Set(own.map(({ cells: all }) => all[index] ?? ''));
    cells.delete('');
    if (index === file.column || cells.size === 0) return [];
    return [{ index, name, says: [...cells].join(', ') }];
  });
  return facts.length === 0 ? null : (
    <section className="case__own">
      <h3 className="case__heading">From your list</h3>
      <dl className="facts">
        {facts.map(({ index, name, says }) => (
          <Fact key={index} name={name}>
            {says}
          </Fact>
        ))}
      </dl>
    </section>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="facts__row">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function DateFact({ answer, nowMs }: { readonly answer: Answer; readonly nowMs: number }) {
  const { lastChange } = answer;
  const isActivation = activatedAtMs(answer) !== null;
  const name = isActivation ? 'SIM activated' : 'Last SIM change';
  switch (lastChange.kind) {
    case 'at': {
      const isSwap = stretches(answer).some(({ kind }) => kind === 'swap');
      return (
        <Fact name={isActivation || isSwap ? name : 'Last SIM change or activation'}>
          {dateTimeName(lastChange.atMs)} ({agoName(lastChange.atMs, nowMs)}).
          {isSwap || isActivation ? ' Earlier changes are not reported.' : ''}
        </Fact>
      );
    }
    case 'withheld':
      return (
        <Fact name={name}>
          The operator may not disclose the date. That does not mean that there was no change.
        </Fact>
      );
    case 'unknown':
      return verdictOf({ kind: 'answered', answer }).kind === 'unknown' ? null : (
        <Fact name={name}>Not known. {reasonOf(lastChange.reason).says}</Fact>
      );
    case 'notAsked':
      return <Fact name={name}>Not checked: that would have sent another prompt.</Fact>;
  }
}

/** For a ticket, or the platform team. */
function Copy({ text, what }: { readonly text: string; readonly what: string }) {
  const [isCopied, setIsCopied] = useState(false);
  return (
    <>
      <Button
        className="button button--icon button--inline"
        aria-label={`Copy ${what}`}
        onPress={() => {
          void navigator.clipboard.writeText(text).then(
            () => setIsCopied(true),
            () => setIsCopied(false),
          );
        }}
      >
        <CopyIcon isDone={isCopied} />
      </Button>
      <span className="visually-hidden" role="status">
        {isCopied ? 'Copied' : ''}
      </span>
    </>
  );
}

function CaseActions({ row }: { readonly row: DeskRow }) {
  const desk = useDesk();
  const ask = useAsk();
  const verdict = verdictOf(row.state);
  const answer = answerOf(row.state);
  const asksOwner =
    verdict.kind === 'needsConsent' ||
    answer?.lastChange.kind === 'notAsked' ||
    (verdict.kind === 'unknown' && verdict.reason === 'CONSENT_EXPIRED');
  if (row.state.kind === 'asking' || verdict.kind === 'pending') return null;
  if (asksOwner) return <AskOwner row={row} />;
  return (
    <div className="case__actions">
      <Button
        className="button"
        onPress={() => ask.withPurpose(() => void desk.checkAgain(row.id))}
      >
        <RetryIcon /> {verdict.kind === 'waiting' ? 'Check' : 'Check again'}
      </Button>
    </div>
  );
}

/** Says that it prompts the owner, and checks one window: each further one would prompt again. */
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
          Each check prompts the owner once. “No change” in 30 days answers the shorter windows too.
        </Text>
      </RadioGroup>
      <Button
        className={isFirst ? 'button button--primary' : 'button'}
        onPress={() => ask.withPurpose(() => void desk.askOwner(row.id, hours))}
      >
        <OutcomeIcon outcome="consent" />{' '}
        {isFirst ? 'Prompt the owner’s phone' : 'Prompt the owner’s phone again'}
      </Button>
    </div>
  );
}
