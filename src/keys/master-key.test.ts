// The master key's file: its contents, its versions, and whether a database belongs to it.
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import type { Store } from "../store/store.ts";
import {
  createMasterKey,
  demandNewestVersion,
  type MasterKey,
  readMasterKey,
  verifyMasterKey,
} from "./master-key.ts";
import { fileOf, newLine, newMasterKey, writeLines } from "./testing/master-keys.ts";

/** Whether files have an owner and modes here. */
const HAS_MODES = process.platform !== "win32";

async function newStore(): Promise<Store> {
  const store = await openSqliteStore(join(dirname(fileOf(newLine())), "lyrebird.sqlite"));
  onTestFinished(() => store.close());
  return store;
}

/** A new file of this text. */
function fileOfText(text: string): string {
  const file = fileOf();
  writeFileSync(file, text);
  return file;
}

/** The keys that a file of this text holds, in hex. */
function keysIn(text: string): readonly string[] {
  const master = readMasterKey(fileOfText(text));
  return Array.from({ length: master.newest }, (_, index) => hexOf(master, index + 1));
}

function hexOf(master: MasterKey, version: number): string {
  return master.keyOf(version).export().toString("hex");
}

/** The error for a file of this text, which must be refused without any part of a key. */
function refusalOf(text: string): string {
  try {
    readMasterKey(fileOfText(text));
  } catch (error) {
    const said = String(error);
    expect(said).toMatch(/^Error: MASTER_KEY_FILE /);
    for (const part of text.match(/[0-9a-fA-F]{8}/g) ?? []) {
      expect(said.toLowerCase()).not.toContain(part.toLowerCase());
    }
    return said;
  }
  throw new Error("it was read");
}

describe("valid contents of a file", () => {
  const [one, other] = [newLine(), newLine()];

  test.each<[string, string]>([
    ["in upper case", `${one.toUpperCase()}\n${other}\n`],
    ["without a line feed at its end", `${one}\n${other}`],
    ["with carriage returns", `${one}\r\n${other}\r\n`],
    ["with white space around each line", ` \t${one} \n\v\f${other}\t \n`],
    ["with blank lines before and after", `\n \r\n${one}\n${other}\n\n\t\n`],
  ])("%s it holds the same keys", (_how, text) => {
    expect(keysIn(text)).toEqual([one, other]);
  });

  test.each<[string, string]>([
    ["nothing", ""],
    ["white space alone", " \r\n\t\n"],
    ["a line of text", "short\n"],
    ["63 digits", `${one.slice(1)}\n`],
    ["65 digits", `${one}0\n`],
    ["a 65th digit in the second line", `${one}\n0${other}\n`],
    ["a blank line inside", `${one}\n\n${other}\n`],
    ["a line of white space inside", `${one}\n \r\n${other}\n`],
    ["white space within a key", `${one.slice(0, 31)} ${one.slice(32)}\n`],
    ["two keys in a line", `${one} ${other}\n`],
    ["two keys with a carriage return alone between", `${one}\r${other}\n`],
    ["a byte order mark", `\ufeff${one}\n`],
  ])("%s is refused", (_what, text) => {
    expect(refusalOf(text)).toContain("must hold 32 random bytes as 64 hex characters");
  });

  // The neighbours of the digits, others that are none, and characters of more bytes than one.
  test.each(["/", ":", "@", "G", "`", "g", "!", "\u0000", "-", "x", "é", "０"])(
    "a digit that is %j is refused, at any position",
    (digit) => {
      const width = Buffer.byteLength(digit);
      for (const place of [0, 31, 64 - width]) {
        const text = one.slice(0, place) + digit + one.slice(place + width);
        expect(Buffer.byteLength(text)).toBe(64);
        expect(refusalOf(`${text}\n`)).toContain("must hold");
      }
    },
  );

  test("an error in a file of several lines says that each is a version", () => {
    expect(refusalOf(`${one}\n`.slice(1))).not.toContain("one line for each version");
    expect(refusalOf(`${one}\n${other}0\n`)).toContain(", one line for each version");
  });

  test.each([
    ["as it is", one],
    ["in another case", one.toUpperCase()],
  ])("the same key twice is refused, %s", (_how, again) => {
    expect(refusalOf(`${one}\n${other}\n${again}\n`)).toContain("holds the same key twice");
  });

  test.runIf(HAS_MODES)("only its owner may read or write it", () => {
    const file = fileOf(one);
    for (const mode of [0o640, 0o620, 0o610, 0o604, 0o602, 0o601]) {
      chmodSync(file, mode);
      expect(() => readMasterKey(file)).toThrow(
        `MASTER_KEY_FILE ${file} may be read by others: chmod 600 it`,
      );
    }
    for (const mode of [0o600, 0o400, 0o700]) {
      chmodSync(file, mode);
      expect(readMasterKey(file).newest).toBe(1);
    }
  });

  test("an error about a missing file, or a folder, says what it should hold", () => {
    const file = fileOf(one);
    for (const none of [`${file}.none`, dirname(file)]) {
      expect(() => readMasterKey(none)).toThrow(
        /^MASTER_KEY_FILE cannot be read, it should hold 32 random bytes as 64 hex characters, .*: E/,
      );
    }
  });
});

describe("a file of versions", () => {
  test("of one line is version 1, as it always was; of several the last is current", () => {
    const lines = [newLine(), newLine(), newLine()];
    expect(readMasterKey(fileOf(lines[0] ?? "")).current).toBe(1);
    const master = readMasterKey(fileOf(...lines));
    expect(master.current).toBe(3);
    for (const [index, line] of lines.entries()) {
      expect(hexOf(master, index + 1)).toBe(line);
    }
    expect(() => master.keyOf(4)).toThrow("no master key of version 4");
    expect([master.has(0), master.has(3), master.has(4)]).toEqual([false, true, false]);
  });

  test("that lost a version that is in use is not taken, and the versions stay", () => {
    const [first, second] = [newLine(), newLine()];
    const master = readMasterKey(fileOf(first, second));
    const kept = master.keyOf(1);
    for (const lines of [[first], [second, first], [newLine(), second], []]) {
      writeLines(master.file, ...lines);
      expect(() => master.lookAgain()).toThrow(/MASTER_KEY_FILE/);
      expect(master.keyOf(1).equals(kept)).toBe(true);
      expect([master.current, master.newest]).toEqual([2, 2]);
    }
  });

  test("is verified in every version", async () => {
    const store = await newStore();
    const [first, second] = [newLine(), newLine()];
    await verifyMasterKey(store, readMasterKey(fileOf(first, second)));
    await verifyMasterKey(store, readMasterKey(fileOf(first, second)));
    await expect(verifyMasterKey(store, readMasterKey(fileOf(first, newLine())))).rejects.toThrow(
      "version 2 of the master key is not the one",
    );
    await expect(verifyMasterKey(store, readMasterKey(fileOf(newLine(), second)))).rejects.toThrow(
      "version 1 of the master key is not the one",
    );
    await expect(verifyMasterKey(store, newMasterKey())).rejects.toThrow("the master key is not the one");
  });
});

test("an older copy of the file is recognized by the database's check values, and the error says what to do", async () => {
  const store = await newStore();
  const [first, second] = [newLine(), newLine()];
  const older = readMasterKey(fileOf(first));
  await demandNewestVersion(store, older);
  await verifyMasterKey(store, readMasterKey(fileOf(first, second)));
  await verifyMasterKey(store, older);
  await expect(demandNewestVersion(store, older)).rejects.toThrow(
    /ends with version 1, and the database has been used with version 2: copy the file.*master-key rotate/,
  );
  await demandNewestVersion(store, readMasterKey(fileOf(first, second)));
  await demandNewestVersion(store, readMasterKey(fileOf(first, second, newLine())));
});

describe("a new file", () => {
  test("has one key, is its owner's alone, and has nothing beside it", () => {
    const file = join(dirname(fileOf(newLine())), "made.key");
    createMasterKey(file);
    expect(readFileSync(file, "utf8")).toMatch(/^[0-9a-f]{64}\n$/);
    if (HAS_MODES) expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(dirname(file)).sort()).toEqual(["made.key", "master.key"]);
    expect(readMasterKey(file).current).toBe(1);
  });

  test("never takes the place of one that is there", () => {
    const line = newLine();
    const file = fileOf(line);
    createMasterKey(file);
    expect(readFileSync(file, "utf8")).toBe(`${line}\n`);
    expect(readdirSync(dirname(file))).toEqual(["master.key"]);
  });
});
