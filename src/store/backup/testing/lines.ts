// A backup as its lines, to look at and to spoil.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { gunzipSync, gzipSync } from "node:zlib";

export function linesOf(file: string): string[] {
  return gunzipSync(readFileSync(file)).toString("utf8").trimEnd().split("\n");
}

/** What a backup holds, without when it was made: of the same rows the same. */
export function contentsOf(file: string): readonly string[] {
  return linesOf(file).slice(1, -1);
}

/** The tables of which two backups hold other rows. */
export function changedTables(one: string, other: string): string[] {
  const [rows, others] = [rowsByTable(one), rowsByTable(other)];
  const names = new Set([...rows.keys(), ...others.keys()]);
  return [...names].filter((name) => rows.get(name)?.join() !== others.get(name)?.join()).sort();
}

function rowsByTable(file: string): ReadonlyMap<string, readonly string[]> {
  const tables = new Map<string, string[]>();
  let rows: string[] = [];
  for (const line of contentsOf(file)) {
    const { table } = JSON.parse(line);
    if (table === undefined) rows.push(line);
    else {
      rows = tables.get(table) ?? [];
      tables.set(table, rows);
    }
  }
  return tables;
}

export function writeLines(file: string, lines: readonly string[]): void {
  writeFileSync(file, gzipSync(`${lines.join("\n")}\n`));
}

/**
 * The lines with the hash that they ought to have: a file that somebody has made, not one that was damaged.
 */
export function sealed(lines: readonly string[]): string[] {
  const body = lines.slice(0, -1);
  const hash = createHash("sha256");
  for (const line of body) hash.update(`${line}\n`);
  const footer = JSON.parse(lines.at(-1) ?? "");
  return [...body, JSON.stringify({ ...footer, sha256: hash.digest("hex") })];
}
