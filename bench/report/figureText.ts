import { FIGURES, type FigureName } from '../measure/figures.ts';
import type { Spread } from '../measure/statistics.ts';

/** A number as people read it: `1,050`, `0.25`. */
export function numberText(value: number, decimals: number): string {
  return value.toLocaleString('en', {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
}

/** A figure with the decimals that it is worth. */
export function figureText(name: FigureName, value: number): string {
  return numberText(value, FIGURES[name].decimals);
}

/** A median with its quartiles: `1.21 (1.18–1.25)`. Large figures need no decimals. */
export function spreadText({ median, low, high }: Spread): string {
  const decimals = median >= 100 ? 0 : 2;
  const [middle, from, to] = [median, low, high].map((value) => numberText(value, decimals));
  return `${middle} (${from}–${to})`;
}
