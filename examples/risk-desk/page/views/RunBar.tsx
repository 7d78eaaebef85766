import { Button, ProgressBar } from 'react-aria-components';
import type { Run } from '../asking/desk.ts';
import { retryPlan } from '../model/retry.ts';
import { durationName, timeLeftMs } from '../model/timeLeft.ts';
import { useAsk } from './ask.ts';
import { useDesk, useDeskState, useSettledRows, useTicking } from './hooks.ts';
import { CloseIcon, PauseIcon, PlayIcon, RetryIcon } from './icons.tsx';
import { countName, numberName } from './names.ts';

/** How far the asking is, and how to hold it. Its height never changes. */
export function RunBar() {
  const { run } = useDeskState();
  if (run.kind === 'idle') return <div className="runbar" />;
  return (
    <div className="runbar" data-run={run.kind}>
      <ProgressBar
        className="runbar__progress"
        aria-label="Progress"
        value={run.done}
        maxValue={run.total}
        valueLabel={`${numberName(run.done)} of ${numberName(run.total)}`}
      >
        {({ percentage = 0 }) => (
          <>
            <div className="runbar__words">
              <b>{saysOf(run)}</b>
              <span>
                {numberName(run.done)} of {countName(run.total, 'number')}
              </span>
              <span className="runbar__left">{timeLeft(run)}</span>
            </div>
            <svg
              className="runbar__bar"
              viewBox="0 0 100 6"
              preserveAspectRatio="none"
              aria-hidden="true"
            >
              <rect className="runbar__track" width="100" height="6" />
              <rect className="runbar__fill" width={percentage} height="6" />
            </svg>
          </>
        )}
      </ProgressBar>
      <div className="runbar__actions">
        <RunActions run={run} />
      </div>
      <Announcement run={run} />
    </div>
  );
}

/** To a screen reader each change, and each tenth of the way. */
function Announcement({ run }: { readonly run: Exclude<Run, { kind: 'idle' }> }) {
  const tenths = Math.floor((10 * run.done) / run.total);
  const words = run.kind === 'asking' ? `Asking: ${tenths * 10} %.` : saysOf(run);
  return (
    <p className="visually-hidden" role="status">
      {words}
    </p>
  );
}

function saysOf(run: Exclude<Run, { kind: 'idle' }>): string {
  switch (run.kind) {
    case 'asking':
      return 'Asking …';
    case 'paused':
      return 'Paused';
    case 'cancelled':
      return 'Cancelled: nothing further is asked';
    case 'done':
      return 'All asked';
  }
}

function timeLeft(run: Exclude<Run, { kind: 'idle' }>): string {
  if (run.kind !== 'asking') return '';
  const ms = timeLeftMs(run.done, run.total, run.activeMs);
  return ms === null ? 'estimating the time left' : `about ${durationName(ms)} left`;
}

function RunActions({ run }: { readonly run: Exclude<Run, { kind: 'idle' }> }) {
  const desk = useDesk();
  const cancel = (
    <Button className="button" onPress={() => desk.cancel()}>
      <CloseIcon /> Cancel
    </Button>
  );
  switch (run.kind) {
    case 'asking':
      return (
        <>
          <Button className="button" onPress={() => desk.pause()}>
            <PauseIcon /> Pause
          </Button>
          {cancel}
        </>
      );
    case 'paused':
      return (
        <>
          <Button className="button button--primary" onPress={() => desk.resume()}>
            <PlayIcon /> Go on
          </Button>
          {cancel}
        </>
      );
    case 'cancelled':
    case 'done':
      return <Retry />;
  }
}

function Retry() {
  const desk = useDesk();
  const ask = useAsk();
  const rows = useSettledRows();
  // Seconds are counted down.
  const nowMs = useTicking(1000);
  const waiting = rows.filter(({ state }) => state.kind === 'waiting').length;
  const { due, later, nextAtMs } = retryPlan(rows, nowMs);
  return (
    <>
      {waiting === 0 ? null : (
        <Button
          className="button"
          onPress={() => {
            if (ask.mayAsk()) void desk.askList();
          }}
        >
          <PlayIcon /> Ask about the other {numberName(waiting)}
        </Button>
      )}
      {due.length === 0 ? null : (
        <Button
          className="button"
          onPress={() => {
            if (ask.mayAsk()) void desk.retry();
          }}
        >
          <RetryIcon /> Retry {countName(due.length, 'number')}
        </Button>
      )}
      {later === 0 || nextAtMs === null ? null : (
        <span className="runbar__later">
          {countName(later, 'number')} to retry in {durationName(Math.max(nextAtMs - nowMs, 1000))}
        </span>
      )}
    </>
  );
}
