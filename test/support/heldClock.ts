/**
 * The wall clock of a simulator, which stops so many milliseconds after its start: an owner who takes longer never
 * answers, however slow the machine is.
 */
export function heldClock(runsForMs: number): () => number {
  const heldAtMs = Date.now() + runsForMs;
  return () => Math.min(Date.now(), heldAtMs);
}
