/** Something that is measured, by its name in the table. */
export interface Entrant<F> {
  readonly name: string;
  /** Measures one round. */
  round(): Promise<F>;
}

/**
 * Measures all entrants in turn, round after round: whatever else the machine does hits all alike. Each
 * round starts with another of them, since what follows a pause runs colder.
 *
 * @param warmUpRounds come first, and are left out
 * @returns each entrant's figures, round by round
 */
export async function interleave<F>(
  entrants: readonly Entrant<F>[],
  rounds: number,
  warmUpRounds = 1,
): Promise<ReadonlyMap<string, readonly F[]>> {
  const figures = new Map<string, F[]>(entrants.map(({ name }) => [name, []]));
  for (let round = 0; round < warmUpRounds + rounds; round += 1) {
    const turn = round % entrants.length;
    for (const entrant of [...entrants.slice(turn), ...entrants.slice(0, turn)]) {
      const figure = await entrant.round();
      if (round >= warmUpRounds) figures.get(entrant.name)?.push(figure);
    }
  }
  return figures;
}
