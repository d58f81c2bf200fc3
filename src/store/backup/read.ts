// Reads a backup in bounded memory. A read that ends without an error has read all rows as written.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import {
  BackupUnfit,
  FORMAT_VERSION,
  type Footer,
  type Header,
  type Line,
  type Row,
  readHeader,
  readLine,
  type TableHead,
} from "./format.ts";

/** No line of ours is nearly as long: a file with one is something else. */
const LINE_CHARACTERS_MAX = 64 * 1024 * 1024;
/** The largest batch. The last row may exceed the limit on characters. */
const BATCH_ROWS_MAX = 500;
const BATCH_CHARACTERS_MAX = 1024 * 1024;

/** Rows of one table. */
export type Batch = TableHead & { readonly rows: readonly Row[] };

export type Contents = { readonly header: Header; readonly rows: Footer["rows"] };

/** Reads a backup to its end. Throws BackupUnfit unless it is whole and sound. */
export async function inspectBackup(file: string, signal?: AbortSignal): Promise<Contents> {
  const batches = readBackup(file, signal);
  for (;;) {
    const { done, value } = await batches.next();
    if (done === true) return value;
  }
}

/**
 * Yields the rows of a backup, table by table, and returns its header and row counts. Throws BackupUnfit at
 * the first error, which may be at the end: the caller must not commit work on the rows before that.
 */
export async function* readBackup(file: string, signal?: AbortSignal): AsyncGenerator<Batch, Contents> {
  const hash = createHash("sha256");
  const counts: Record<string, number> = {};
  let header: Header | null = null;
  let head: TableHead | null = null;
  let rows: Row[] = [];
  let characters = 0;
  let footer: Footer | null = null;
  for await (const text of linesOf(file, signal)) {
    if (header === null) {
      header = headerOf(file, text);
      hash.update(`${text}\n`);
      continue;
    }
    const line: Line | null = footer === null ? readLine(text) : null;
    if (line === null) throw damaged(file);
    const isFull = rows.length >= BATCH_ROWS_MAX || characters >= BATCH_CHARACTERS_MAX;
    if (head !== null && rows.length > 0 && (isFull || line.kind !== "ROW")) {
      yield { ...head, rows };
      rows = [];
      characters = 0;
    }
    if (line.kind === "FOOTER") {
      footer = line.footer;
      continue;
    }
    hash.update(`${text}\n`);
    if (line.kind === "TABLE") {
      if (counts[line.head.table] !== undefined) throw damaged(file);
      head = line.head;
      counts[head.table] = 0;
    } else {
      if (head?.columns.length !== line.row.length) throw damaged(file);
      rows.push(line.row);
      characters += text.length;
      counts[head.table] = (counts[head.table] ?? 0) + 1;
    }
  }
  if (header === null) throw foreign(file);
  if (footer === null || footer.sha256 !== hash.digest("hex") || !isSame(footer.rows, counts)) {
    throw damaged(file);
  }
  return { header, rows: footer.rows };
}

function headerOf(file: string, line: string): Header {
  const header = readHeader(line);
  if (header === null) throw foreign(file);
  if (header.formatVersion > FORMAT_VERSION) {
    throw new BackupUnfit(
      `${file} was made by a later version of Lyrebird, ${header.lyrebird}: restore it with that one`,
    );
  }
  return header;
}

async function* linesOf(file: string, signal: AbortSignal | undefined): AsyncGenerator<string> {
  const plain = createGunzip();
  plain.setEncoding("utf8");
  // What fails on the way ends the reading below with the same error.
  const feeding = pipeline(createReadStream(file), plain, signal === undefined ? {} : { signal });
  feeding.catch(() => {});
  let rest = "";
  try {
    for await (const chunk of plain as AsyncIterable<string>) {
      const lines = `${rest}${chunk}`.split("\n");
      rest = lines.pop() ?? "";
      if (rest.length > LINE_CHARACTERS_MAX) throw damaged(file);
      yield* lines;
    }
  } catch (error) {
    throw readingError(file, error);
  }
  if (rest !== "") throw damaged(file);
}

function readingError(file: string, error: unknown): unknown {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "Z_BUF_ERROR") return damaged(file);
  // Only zlib's message separates a file that is not gzip at all from a damaged gzip file.
  if (code === "Z_DATA_ERROR") return /header/.test(String(error)) ? foreign(file) : damaged(file);
  if (["ENOENT", "EISDIR", "EACCES"].includes(code)) {
    return new BackupUnfit(`${file} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
  return error;
}

function isSame(one: Footer["rows"], other: Footer["rows"]): boolean {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
}

function foreign(file: string): BackupUnfit {
  return new BackupUnfit(`${file} is not a backup of Lyrebird`);
}

function damaged(file: string): BackupUnfit {
  return new BackupUnfit(`${file} is damaged or was cut short, and cannot be restored: take another backup`);
}
