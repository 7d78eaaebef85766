/** What is made of a value, and made again only when the value is another one. */
export function derived<Source, Made>(
  source: () => Source,
  make: (source: Source) => Made,
): () => Made {
  let from = source();
  let made = make(from);
  return () => {
    const now = source();
    if (now !== from) {
      from = now;
      made = make(now);
    }
    return made;
  };
}
