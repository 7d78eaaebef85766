import { Button, ProgressBar } from 'react-aria-components';
import type { Run } from '../asking/desk.ts';
import type { DeskRow } from '../model/deskRow.ts';
import { retryPlan } from '../model/retry.ts';
import { durationName, timeLeftMs } from '../model/timeLeft.ts';
import { PART_SIZE } from '../model/upload.ts';
import { useAsk } from './ask.ts';
import { useDesk, useDeskState, useTicking } from './hooks.ts';
import { PlayIcon, RetryIcon } from './icons.tsx';
import { countName, numberName, priceName } from './names.ts';

type Started = Exclude<Run, { kind: 'idle' }>;

/** How far the list is, how to hold it, and in the end what it took. Its height never changes. */
export function RunBar({ rows }: { readonly rows: readonly DeskRow[] }) {
  const { run } = useDeskState();
  if (run.kind === 'idle') return <div className="runbar" />;
  const waiting = rows.filter(({ state }) => state.kind === 'waiting').length;
  return (
    <div className="runbar" data-run={run.kind}>
      {run.kind === 'done' ? <Spent run={run} rows={rows.length} waiting={waiting} /> : null}
      {run.kind === 'cancelled' ? (
        <p className="runbar__words">
          <b>Cancelled.</b> <span>{countName(waiting, 'number')} not checked</span>
        </p>
      ) : null}
      {run.kind === 'asking' || run.kind === 'paused' ? <Progress run={run} /> : null}
      <div className="runbar__actions">
        {run.kind === 'asking' || run.kind === 'paused' ? (
          <HoldActions run={run} />
        ) : (
          <Continue rows={rows} waiting={waiting} />
        )}
      </div>
      <Announcement run={run} />
    </div>
  );
}

function Progress({ run }: { readonly run: Extract<Run, { kind: 'asking' | 'paused' }> }) {
  return (
    <ProgressBar
      className="runbar__progress"
      aria-label="Progress"
      value={run.done}
      maxValue={run.total}
      valueLabel={`${numberName(run.done)} of ${numberName(run.total)}`}
    >
      {({ percentage = 0 }) => (
        <>
          <p className="runbar__words">
            <b>{saysOf(run)}</b>
            <span>
              {numberName(run.done)} of {numberName(run.total)}
              <span className="runbar__noun"> {run.total === 1 ? 'number' : 'numbers'}</span>
            </span>
            {timeLeft(run) === '' ? null : <span>{timeLeft(run)}</span>}
          </p>
          <div className="runbar__track">
            <div className="runbar__fill" style={{ width: `${percentage}%` }} />
          </div>
        </>
      )}
    </ProgressBar>
  );
}

interface SpentProps {
  readonly run: Started;
  readonly rows: number;
  readonly waiting: number;
}

/** Of the whole list, over all its parts and retries. */
function Spent({ run: { spentMs }, rows, waiting }: SpentProps) {
  const { purpose, session } = useAsk();
  const { count, isExact } = useDeskState().lookups;
  const price = priceName(count, session.lookupPrice);
  const checked =
    waiting === 0
      ? countName(rows, 'number')
      : `${numberName(rows - waiting)} of ${countName(rows, 'number')}`;
  return (
    <p className="runbar__words">
      <b>{checked} checked</b>
      <span>in {durationName(spentMs)}</span>
      {/* A request that was cancelled, or whose reply was lost, may have taken some more. */}
      {count === 0 && !isExact ? null : (
        <>
          <span>
            {isExact ? '' : 'at least '}
            {countName(count, 'lookup')}
          </span>
          {price === null ? null : (
            <span>
              {isExact ? '' : 'from '}
              {price}
            </span>
          )}
        </>
      )}
      {purpose === null ? null : <span>{purpose}</span>}
    </p>
  );
}

/** To a screen reader each change, and each tenth of the way. */
function Announcement({ run }: { readonly run: Started }) {
  const tenths = Math.floor((10 * run.done) / run.total);
  const words = run.kind === 'asking' ? `Checking: ${tenths * 10} %.` : saysOf(run);
  return (
    <p className="visually-hidden" role="status">
      {words}
    </p>
  );
}

function saysOf(run: Started): string {
  switch (run.kind) {
    case 'asking':
      return 'Checking …';
    case 'paused':
      return 'Paused';
    case 'cancelled':
      return 'Cancelled';
    case 'done':
      return 'All checked';
  }
}

function timeLeft(run: Started): string {
  if (run.kind !== 'asking') return '';
  const ms = timeLeftMs(run.done, run.total, run.activeMs);
  return ms === null ? 'estimating the time left' : `about ${durationName(ms)} left`;
}

function HoldActions({ run }: { readonly run: Started }) {
  const desk = useDesk();
  const { isSignedOut } = useDeskState();
  return (
    <>
      {isSignedOut ? null : run.kind === 'asking' ? (
        <Button className="button" onPress={() => desk.pause()}>
          Pause
        </Button>
      ) : (
        <Button className="button button--primary" onPress={() => desk.resume()}>
          Resume
        </Button>
      )}
      <Button className="button" onPress={() => desk.cancel()}>
        Cancel
      </Button>
    </>
  );
}

interface ContinueProps {
  readonly rows: readonly DeskRow[];
  readonly waiting: number;
}

/** One button for whatever is left: a further part, what was cancelled, what failed and may pass. */
function Continue({ rows, waiting }: ContinueProps) {
  const desk = useDesk();
  const ask = useAsk();
  // Seconds are counted down.
  const nowMs = useTicking(1000);
  const { due, later, nextAtMs } = retryPlan(rows, nowMs);
  const isRetry = waiting === 0;
  const count = isRetry ? due.length : Math.min(waiting, PART_SIZE);
  return (
    <>
      {later === 0 || nextAtMs === null ? null : (
        <span className="runbar__later">
          {countName(later, 'number')} to retry in {durationName(Math.max(nextAtMs - nowMs, 1000))}
        </span>
      )}
      {count === 0 ? null : (
        <Button
          className={isRetry ? 'button' : 'button button--primary'}
          onPress={() => ask.withPurpose(() => void desk.checkList())}
        >
          {isRetry ? <RetryIcon /> : <PlayIcon />}
          {isRetry
            ? `Retry ${countName(count, 'number')}`
            : `Check the ${count < waiting ? 'next' : 'remaining'} ${numberName(count)}`}
        </Button>
      )}
    </>
  );
}
