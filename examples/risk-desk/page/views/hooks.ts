import { createContext, use, useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import type { Desk, DeskState } from '../asking/desk.ts';
import type { DeskRow } from '../model/deskRow.ts';

/** The desk that a part of the page belongs to. */
export const DeskContext = createContext<Desk | null>(null);

export function useDesk(): Desk {
  const desk = use(DeskContext);
  if (desk === null) throw new Error('There is no desk around this part of the page.');
  return desk;
}

export function useDeskState(): DeskState {
  const desk = useDesk();
  return useSyncExternalStore(desk.subscribe, desk.state);
}

/** One row, drawn again when it changes and not with the others. */
export function useRow(id: number): DeskRow | undefined {
  const desk = useDesk();
  return useSyncExternalStore(desk.subscribe, () => desk.row(id));
}

/** At most so often is the table put in order again while answers come in. */
const SETTLE_MS = 400;

/** The rows, a little behind while many of them change. */
export function useSettledRows(): readonly DeskRow[] {
  const desk = useDesk();
  const [rows, setRows] = useState(desk.state().rows);
  useEffect(() => {
    let timer: number | undefined;
    const settle = (): void => {
      timer = undefined;
      setRows(desk.state().rows);
    };
    const unsubscribe = desk.subscribe(() => {
      // What a run came to is there with its last word.
      const isSettled = ['done', 'cancelled'].includes(desk.state().run.kind);
      if (isSettled) clearTimeout(timer);
      if (isSettled) settle();
      else timer ??= window.setTimeout(settle, SETTLE_MS);
    });
    settle();
    return () => {
      unsubscribe();
      clearTimeout(timer);
    };
  }, [desk]);
  return rows;
}

/** The time, for what ages before people's eyes. */
export const NowContext = createContext(0);

const TICK_MS = 10_000;

/** The time, every so often. */
export function useTicking(tickMs: number = TICK_MS): number {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), tickMs);
    return () => clearInterval(timer);
  }, [tickMs]);
  return nowMs;
}

export function useNow(): number {
  return use(NowContext);
}

/** Whether a media query holds. */
export function useMedia(query: string): boolean {
  const list = useMemo(() => window.matchMedia(query), [query]);
  return useSyncExternalStore(
    (listener) => {
      list.addEventListener('change', listener);
      return () => list.removeEventListener('change', listener);
    },
    () => list.matches,
  );
}
