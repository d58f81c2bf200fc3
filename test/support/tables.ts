// The tables of the documents: for tests that hold them against the program.

export type TableRow = {
  /** The heading above the table. */
  readonly heading: string;
  /** By column, without the backticks around a whole cell. */
  readonly cells: Readonly<Record<string, string>>;
};

/** Every row of every table of a Markdown text whose columns begin with these. */
export function tableRows(markdown: string, firstColumns: readonly string[]): TableRow[] {
  const rows: TableRow[] = [];
  let heading = "";
  let columns: readonly string[] | null = null;
  for (const line of markdown.split("\n")) {
    if (line.startsWith("#")) heading = line.replace(/^#+ /, "");
    if (!line.startsWith("|")) {
      columns = null;
    } else if (columns === null) {
      columns = cellsOf(line);
    } else if (!/^[|-]+$/.test(line.replaceAll(" ", "")) && isWanted(columns, firstColumns)) {
      const cells = cellsOf(line);
      if (cells.length !== columns.length)
        throw new Error(`a row has as many cells as its table has columns: ${line}`);
      rows.push({
        heading,
        cells: Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? ""])),
      });
    }
  }
  return rows;
}

function isWanted(columns: readonly string[], firstColumns: readonly string[]): boolean {
  return firstColumns.every((column, index) => columns[index] === column);
}

function cellsOf(line: string): string[] {
  return line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim().replace(/^`([^`]*)`$/, "$1"));
}
