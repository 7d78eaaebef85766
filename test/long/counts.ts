/** How often each thing was seen, by its name. */
export class Counts extends Map<string, number> {
  add(name: string, times = 1): void {
    this.set(name, this.of(name) + times);
  }

  of(name: string): number {
    return this.get(name) ?? 0;
  }
}
