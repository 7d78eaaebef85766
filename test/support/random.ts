/** One for each phone number: what happens to one does not depend on others. */
export function randomOf(seed: number, number: string): Random {
  return new Random(seed ^ Number(number.slice(1)));
}

/** Pseudo-random numbers of a seed (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(choices: readonly T[]): T {
    const [picked] = choices.slice(this.below(choices.length));
    if (picked === undefined) throw new Error('There is nothing to pick from.');
    return picked;
  }

  /** In random order (Fisher and Yates). */
  shuffled<T>(all: readonly T[]): T[] {
    const left = [...all];
    return all.flatMap(() => left.splice(this.below(left.length), 1));
  }

  /** One of the names, each as often as its weight says. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>, otherwise: K): K {
    let left = this.next() * Object.values<number>(weights).reduce((sum, one) => sum + one, 0);
    for (const [name, weight] of Object.entries<number>(weights) as [K, number][]) {
      left -= weight;
      if (left < 0) return name;
    }
    return otherwise;
  }
}
