import { useSyncExternalStore } from 'react';

export type Place = 'list' | 'single';

/** Where a person is. It is in the browser's history: ids of this page's rows, and no number. */
export interface Here {
  readonly place: Place;
  /** The row that is open beside the list. */
  readonly caseId: number | null;
}

const listeners = new Set<() => void>();
let here: Here = { place: 'list', caseId: null };

function settle(next: Here): void {
  here = next;
  for (const listener of listeners) listener();
}

window.addEventListener('popstate', ({ state }) => settle(hereIn(state) ?? here));

function hereIn(state: unknown): Here | undefined {
  if (typeof state !== 'object' || state === null) return undefined;
  const { place, caseId } = state as Partial<Here>;
  return place === 'list' || place === 'single'
    ? { place, caseId: typeof caseId === 'number' ? caseId : null }
    : undefined;
}

/** At the start. The tab is the one before a reload; its rows are gone, and so is the case that was open. */
export function arrive(places: readonly Place[]): void {
  const { place } = hereIn(history.state) ?? here;
  const next = { place: places.find((one) => one === place) ?? 'single', caseId: null };
  history.replaceState(next, '');
  settle(next);
}

/** With an entry of its own, so that Back leads here again. */
export function goTo(change: Partial<Here>): void {
  const next = { ...here, ...change };
  if (next.place === here.place && next.caseId === here.caseId) return;
  history.pushState(next, '');
  settle(next);
}

/** Leads back to the list, as Back does. */
export function closeCase(): void {
  if (here.caseId !== null) history.back();
}

export function useHere(): Here {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => here,
  );
}
