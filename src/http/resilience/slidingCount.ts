/** Counts what happened in the last so many seconds. */
export class SlidingCount {
  readonly #counts: number[];
  #lastSecond = 0;
  #total = 0;

  constructor(windowSeconds: number) {
    this.#counts = Array.from({ length: windowSeconds }, () => 0);
  }

  add(nowSeconds: number): void {
    this.#forget(nowSeconds);
    const slot = nowSeconds % this.#counts.length;
    this.#counts[slot] = (this.#counts[slot] ?? 0) + 1;
    this.#total += 1;
  }

  total(nowSeconds: number): number {
    this.#forget(nowSeconds);
    return this.#total;
  }

  clear(): void {
    this.#counts.fill(0);
    this.#total = 0;
  }

  #forget(nowSeconds: number): void {
    const length = this.#counts.length;
    const oldest = Math.max(this.#lastSecond + 1, nowSeconds - length + 1);
    for (let second = oldest; second <= nowSeconds; second += 1) {
      this.#total -= this.#counts[second % length] ?? 0;
      this.#counts[second % length] = 0;
    }
    this.#lastSecond = Math.max(this.#lastSecond, nowSeconds);
  }
}
