/** Lays cells out in columns, each as wide as its widest cell; the first is flush left, numbers are not. */
export function columns(lines: readonly (readonly string[])[]): string[] {
  const count = Math.max(0, ...lines.map((cells) => cells.length));
  const widths = Array.from({ length: count }, (_, column) =>
    Math.max(...lines.map((cells) => cells[column]?.length ?? 0)),
  );
  return lines.map((cells) =>
    cells
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
}
