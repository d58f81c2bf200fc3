// Master keys for tests, in files of their own.
import { randomBytes } from "node:crypto";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type MasterKey, readMasterKey } from "../master-key.ts";

/** A line of a master key's file. */
export function newLine(): string {
  return randomBytes(32).toString("hex");
}

/** A new file of these lines. */
export function fileOf(...lines: readonly string[]): string {
  const file = join(mkdtempSync(join(tmpdir(), "lyrebird-key-")), "master.key");
  writeLines(file, ...lines);
  return file;
}

export function writeLines(file: string, ...lines: readonly string[]): void {
  writeFileSync(file, lines.map((line) => `${line}\n`).join(""), { mode: 0o600 });
}

/** A master key with this many versions. */
export function newMasterKey(versions = 1): MasterKey {
  return readMasterKey(fileOf(...Array.from({ length: versions }, newLine)));
}
