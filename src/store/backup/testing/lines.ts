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

export function writeLines(file: string, lines: readonly string[]): void {
  writeFileSync(file, gzipSync(`${lines.join("\n")}\n`));
}

/** The lines with the hash that they ought to have: a file that somebody has made, not one that was damaged. */
export function sealed(lines: readonly string[]): string[] {
  const body = lines.slice(0, -1);
  const hash = createHash("sha256");
  for (const line of body) hash.update(`${line}\n`);
  const footer = JSON.parse(lines.at(-1) ?? "");
  return [...body, JSON.stringify({ ...footer, sha256: hash.digest("hex") })];
}
