/** The middle of some figures, and how far they spread. */
export interface Spread {
  readonly median: number;
  /** The quartiles: half of all rounds lie between them. */
  readonly low: number;
  readonly high: number;
}

/** The median and the quartiles. */
export function spreadOf(figures: readonly number[]): Spread {
  return {
    median: quantile(figures, 0.5),
    low: quantile(figures, 0.25),
    high: quantile(figures, 0.75),
  };
}

/** The figure below which this share of all figures lies; between two figures, in proportion. */
export function quantile(figures: readonly number[], share: number): number {
  const sorted = figures.toSorted((a, b) => a - b);
  const place = share * (sorted.length - 1);
  const below = sorted[Math.floor(place)] ?? Number.NaN;
  const above = sorted[Math.ceil(place)] ?? below;
  return below + (above - below) * (place - Math.floor(place));
}

/** Round by round, so that a machine whose speed drifts cannot favour a contestant. */
export function ratios(figures: readonly number[], base: readonly number[]): number[] {
  return figures.map((figure, round) => figure / (base[round] ?? Number.NaN));
}

/** Round by round as well: how much more each figure is than its base. */
export function differences(figures: readonly number[], base: readonly number[]): number[] {
  return figures.map((figure, round) => figure - (base[round] ?? Number.NaN));
}
