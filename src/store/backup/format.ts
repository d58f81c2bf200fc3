// The format of a backup: one gzip file of lines, each a JSON value. A header comes first, then each table as
// a line with its columns and a line for each row, then a footer with the number of rows of each table and
// the SHA-256 of all lines before it. Invariants: a file that is damaged, cut short or something else is
// never restored; the same rows give the same lines on every store; a master key is never in one.
import { z } from "zod";

export const FORMAT = "lyrebird-backup";
/** A change that an earlier version could not read is the next number. */
export const FORMAT_VERSION = 1;

const header = z.object({
  format: z.literal(FORMAT),
  formatVersion: z.int(),
  /** The version of Lyrebird that made it. */
  lyrebird: z.string(),
  /** ISO 8601: it holds what was committed until then. */
  createdAt: z.string(),
  /** The migrations that its database had been through, in their order. */
  migrations: z.array(z.string()).min(1),
});
const tableHead = z.object({ table: z.string(), columns: z.array(z.string()).min(1) });
const footer = z.object({ rows: z.record(z.string(), z.int()), sha256: z.string() });

export type Header = z.infer<typeof header>;
export type TableHead = z.infer<typeof tableHead>;
/** Whole numbers within 2^53, and text. */
export type Cell = string | number | null;
/** In the order of the table's columns. */
export type Row = readonly Cell[];
export type Footer = z.infer<typeof footer>;

/** A file that cannot be restored, in words for the person who named it. */
export class BackupUnfit extends Error {}

export type Line =
  | { readonly kind: "TABLE"; readonly head: TableHead }
  | { readonly kind: "ROW"; readonly row: Row }
  | { readonly kind: "FOOTER"; readonly footer: Footer };

/** The first line, or null if this is no backup. */
export function readHeader(line: string): Header | null {
  const parsed = header.safeParse(jsonOf(line));
  return parsed.success ? parsed.data : null;
}

/** Any other line, or null if it is none of a backup's. */
export function readLine(line: string): Line | null {
  const value = jsonOf(line);
  if (Array.isArray(value)) return isRow(value) ? { kind: "ROW", row: value } : null;
  const head = tableHead.safeParse(value);
  if (head.success) return { kind: "TABLE", head: head.data };
  const last = footer.safeParse(value);
  return last.success ? { kind: "FOOTER", footer: last.data } : null;
}

function isRow(value: readonly unknown[]): value is Row {
  return value.every((cell) => cell === null || typeof cell === "string" || Number.isSafeInteger(cell));
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
