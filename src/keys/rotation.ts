// Adds a new version of the master key as a line of its file. The file is replaced atomically, and only after
// the database has stored the version, so that two servers with files of their own cannot each have a
// different second version.
// Until then the new file is beside the old one, under a name of its own: the next rotation finishes an
// interrupted one, with the same key.
import { chownSync, readFileSync, realpathSync, renameSync, statSync, unlinkSync } from "node:fs";
import { dirname } from "node:path";
import type { Store } from "../store/store.ts";
import {
  checkValueOf,
  type MasterKey,
  newVersionLine,
  readMasterKey,
  syncFolder,
  writeWhole,
} from "./master-key.ts";

const NEXT = ".next";

/**
 * Adds a version to a master key that was verified, and answers its number: from then on new keys and seals
 * are made with it. `at` is wall time, Unix ms. It is audited. Throws with what to do if the file cannot be
 * replaced, which is found out before anything is changed, or if another file of the same database has a
 * version of that number already. `rename` replaces a file; for tests.
 */
export async function rotateMasterKey(
  store: Store,
  master: MasterKey,
  at: number,
  rename: (from: string, to: string) => void = renameSync,
): Promise<number> {
  // A link stays a link: what is replaced is the file that it leads to.
  const file = realpathSync(master.file);
  const next = `${file}${NEXT}`;
  // With a copy of the file: once the database has stored a version, servers without it do not start. It has
  // the name of the next file, so that it never takes the place of another rotation's new version. If that
  // name is taken, an interrupted rotation has made the same check.
  replacing(file, () => writeNext(next, file, readFileSync(file, "utf8")));
  if (readFileSync(next).equals(readFileSync(file))) {
    try {
      replace(next, file, rename);
    } catch (error) {
      unlinkSync(next);
      throw error;
    }
  }
  writeNext(next, file, `${readFileSync(file, "utf8").trim()}\n${newVersionLine()}`);
  const { keyOf, version } = readNext(next, master);
  if ((await store.rememberMasterKey(version, checkValueOf(keyOf))) !== checkValueOf(keyOf)) {
    unlinkSync(next);
    throw new Error(
      `the database has another version ${version} of the master key already: copy the master key of the server where it was rotated to ${file}`,
    );
  }
  await store.people.audit({
    who: { kind: "COMMAND_LINE" },
    what: "MASTER_KEY_ROTATED",
    about: { kind: "MASTER_KEY", id: String(version) },
    at,
    details: {},
  });
  replace(next, file, rename);
  master.lookAgain();
  master.useNewest();
  return version;
}

/** Writes the next file, unless there is one, with the mode and the owner of the present one. */
function writeNext(next: string, file: string, text: string): void {
  const { mode, uid, gid } = statSync(file);
  writeWhole(next, text, mode & 0o777);
  // When root rotates for a server of another user, that user must still be able to read the key.
  if (process.getuid?.() === 0) chownSync(next, uid, gid);
}

function replace(next: string, file: string, rename: (from: string, to: string) => void): void {
  replacing(file, () => rename(next, file));
  syncFolder(dirname(file));
}

/** A step of replacing a file. Throws with what to do if it cannot be done. */
function replacing(file: string, step: () => void): void {
  try {
    step();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `${file} cannot be replaced: mount its directory, not the file alone, and make it writable; then rotate again (${reason})`,
      { cause: error },
    );
  }
}

/** The next content of the file: the existing versions, and one more. */
function readNext(next: string, master: MasterKey) {
  const read = readMasterKey(next);
  const isNext =
    read.newest === master.newest + 1 &&
    Array.from({ length: master.newest }, (_, index) => index + 1).every((version) =>
      read.keyOf(version).equals(master.keyOf(version)),
    );
  if (!isNext) {
    throw new Error(`${next} is left of another rotation and does not fit ${master.file}: move it away`);
  }
  return { keyOf: read.keyOf(read.newest), version: read.newest };
}
