import { describe, expect, test } from "vitest";
import { seededRandom } from "../../../support/random.ts";
import { Disk, type NamesLast } from "./disk.ts";
import { FileOnDisk } from "./file-on-disk.ts";
import type { DiskRecord } from "./recording.ts";

const SECTOR = 512;
const CUTS = 200;

describe("a file after a power cut", () => {
  test("holds what was synced, and any of what was not", () => {
    const file = new FileOnDisk();
    file.write(0, sectors("a", "a", "a"));
    file.beginSync(1);
    file.endSync(1, false);
    file.write(0, sectors("b", "b", "b"));
    expect(outcomesOf(file)).toEqual(new Set(["aaa", "aab", "aba", "abb", "baa", "bab", "bba", "bbb"]));
    expect(textOf(file.asWritten())).toBe("bbb");
  });

  test("never holds a newer write without an older one in the same sector", () => {
    const file = new FileOnDisk(sectors("-"));
    file.write(0, Buffer.from("1"));
    file.write(1, Buffer.from("2"));
    const outcomes = new Set(cut(file).map((content) => content.toString("latin1", 0, 2)));
    expect(outcomes).toEqual(new Set(["--", "1-", "12"]));
  });

  test("may lack what was written after a sync began, although the sync ended later", () => {
    const file = new FileOnDisk(sectors("-", "-"));
    file.write(0, sectors("a"));
    file.beginSync(1);
    file.write(SECTOR, sectors("b"));
    file.endSync(1, false);
    expect(outcomesOf(file)).toEqual(new Set(["a-", "ab"]));
  });

  test("may lack what a failed sync should have written, whatever is synced later, unless it is written again", () => {
    const file = new FileOnDisk(sectors("-", "-"));
    file.write(0, sectors("a", "a"));
    file.beginSync(1);
    file.endSync(1, true);
    file.beginSync(2);
    file.endSync(2, false);
    expect(outcomesOf(file)).toEqual(new Set(["--", "-a", "a-", "aa"]));
    file.write(0, sectors("b"));
    file.beginSync(3);
    file.endSync(3, false);
    expect(outcomesOf(file)).toEqual(new Set(["b-", "ba"]));
  });

  test("has any of the sizes that it had since its last sync", () => {
    const file = new FileOnDisk(sectors("a"));
    file.write(SECTOR, sectors("b"));
    file.truncate(0);
    const sizes = new Set(cut(file).map(({ length }) => length / SECTOR));
    expect(sizes).toEqual(new Set([0, 1, 2]));
  });
});

describe("a name after a power cut", () => {
  const change: readonly DiskRecord[] = [
    { kind: "CREATE", file: 1, path: "/d/first" },
    { kind: "CREATE", file: 2, path: "/d/second" },
    { kind: "UNLINK", path: "/d/old" },
  ];
  const syncOf = (path: string, file: number): readonly DiskRecord[] => [
    { kind: "SYNC_BEGUN", file, path, sync: 1 },
    { kind: "SYNC_DONE", file, path, sync: 1 },
  ];

  test.each([
    // With names in order: nothing, the first, both, both without the old one.
    ["JOURNALED", [], 4],
    ["UNORDERED", [], 8],
    // Syncing the second file makes the first one's name last too, where names reach the disk in order.
    ["JOURNALED", syncOf("/d/second", 2), 2],
    ["UNORDERED", syncOf("/d/second", 2), 8],
    ["JOURNALED", syncOf("/d", 9), 1],
    ["UNORDERED", syncOf("/d", 9), 1],
  ] as const)("lasts, names being %s, as far as it was synced (case %#)", (namesLast, syncs, outcomes) => {
    expect(namesAfter(namesLast, [...change, ...syncs]).size).toBe(outcomes);
  });

  test("is lost with the folder that it is in", () => {
    const made: readonly DiskRecord[] = [
      { kind: "MAKE_DIRECTORY", path: "/d/new" },
      { kind: "CREATE", file: 1, path: "/d/new/file" },
      { kind: "SYNC_BEGUN", file: 7, path: "/d/new", sync: 1 },
      { kind: "SYNC_DONE", file: 7, path: "/d/new", sync: 1 },
    ];
    expect(namesAfter("UNORDERED", made)).toEqual(new Set(["/d,/d/old", "/d,/d/new,/d/new/file,/d/old"]));
  });

  test("is not made to last by a sync that is a lie", () => {
    const disk = () => new Disk(found(), { namesLast: "UNORDERED", isSyncIgnored: () => true });
    expect(namesAfter("UNORDERED", [...change, ...syncOf("/d", 9)], disk).size).toBe(8);
  });
});

function found() {
  return new Map([
    ["/d", { file: 9, content: null }],
    ["/d/old", { file: 3, content: Buffer.alloc(0) }],
  ]);
}

/** Every set of names that power cuts leave. */
function namesAfter(
  namesLast: NamesLast,
  records: readonly DiskRecord[],
  make = () => new Disk(found(), { namesLast }),
): Set<string> {
  const disk = make();
  for (const record of records) disk.take(record);
  const draw = seededRandom(1);
  return new Set(Array.from({ length: CUTS }, () => [...disk.afterPowerCut(draw).keys()].sort().join()));
}

function cut(file: FileOnDisk): Buffer[] {
  const draw = seededRandom(1);
  return Array.from({ length: CUTS }, () => file.afterPowerCut(draw));
}

function outcomesOf(file: FileOnDisk): Set<string> {
  return new Set(cut(file).map(textOf));
}

function sectors(...letters: readonly string[]): Buffer {
  return Buffer.concat(letters.map((letter) => Buffer.alloc(SECTOR, letter)));
}

/** A letter a sector. */
function textOf(content: Buffer): string {
  return Array.from({ length: content.length / SECTOR }, (_, sector) =>
    String.fromCharCode(content[sector * SECTOR] ?? 0),
  ).join("");
}
