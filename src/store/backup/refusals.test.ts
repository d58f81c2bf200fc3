// What is refused, and that nothing is left of the attempt.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { seededRandom } from "../../../test/support/random.ts";
import { testSeed } from "../../../test/support/seed.ts";
import { newDirectory } from "../../../test/support/servers/gateway.ts";
import { openSqliteStore } from "../sqlite/sqlite-store.ts";
import { BackupUnfit } from "./format.ts";
import { checkBackup } from "./restore.ts";
import { backUpSqlite, restoreSqlite } from "./sqlite.ts";
import { fill } from "./testing/filled.ts";
import { linesOf, sealed, writeLines } from "./testing/lines.ts";

let sound: string;
beforeAll(async () => {
  const directory = newDirectory();
  const database = join(directory, "lyrebird.sqlite");
  sound = join(directory, "sound.backup");
  const store = await openSqliteStore(database);
  await fill(store);
  await store.close();
  await backUpSqlite(database, sound, { version: "0.1.0" });
});
afterAll(() => rmSync(sound));

let directory: string;
beforeEach(() => {
  directory = newDirectory();
});

describe("a file that is not a sound backup of this version is refused, and nothing is restored", () => {
  const FOREIGN = /is not a backup of Lyrebird/;
  const DAMAGED = /is damaged or was cut short/;
  const LATER = /was made by a(?: later|nother) version of Lyrebird, 9.9.9: restore it with that one/;

  const lines = () => linesOf(sound);
  const bytes = () => readFileSync(sound);
  const header = (): { migrations: string[] } => JSON.parse(lines()[0] ?? "");
  const withHeader = (changed: object) => {
    const [header = "", ...rest] = lines();
    return sealed([JSON.stringify({ ...JSON.parse(header), ...changed }), ...rest]);
  };
  const withFooter = (changed: object) => {
    const footer = JSON.parse(lines().at(-1) ?? "");
    return [...lines().slice(0, -1), JSON.stringify({ ...footer, ...changed })];
  };
  const cases: readonly (readonly [name: string, make: () => Buffer | readonly string[], why: RegExp])[] = [
    ["an empty file", () => Buffer.alloc(0), DAMAGED],
    ["a text", () => Buffer.from("SELECT * FROM orders;\n"), FOREIGN],
    ["a compressed text", () => gzipSync("SELECT * FROM orders;\n"), FOREIGN],
    ["a compressed file of nothing", () => gzipSync(""), FOREIGN],
    ["JSON lines of another kind", () => ['{"format":"other"}', "[1]"], FOREIGN],
    ["one without its last byte", () => bytes().subarray(0, -1), DAMAGED],
    ["its first half", () => bytes().subarray(0, bytes().length / 2), DAMAGED],
    ["one without its last line", () => lines().slice(0, -1), DAMAGED],
    ["one that lacks a row", () => lines().toSpliced(-2, 1), DAMAGED],
    ["one with a row too many", () => lines().toSpliced(-2, 0, lines().at(-2) ?? ""), DAMAGED],
    ["one with a changed row", () => lines().with(-2, (lines().at(-2) ?? "").replace("1", "2")), DAMAGED],
    ["one with two rows exchanged", () => lines().with(3, line(4)).with(4, line(3)), DAMAGED],
    ["one with a line after the last", () => [...lines(), "[1]"], DAMAGED],
    ["two, one after the other", () => Buffer.concat([bytes(), bytes()]), DAMAGED],
    ["one whose counts are others", () => withFooter({ rows: { strategies: 1 } }), DAMAGED],
    ["one with a broken line", () => sealed(lines().with(5, line(5).slice(1))), DAMAGED],
    ["one with a row of another width", () => sealed(lines().with(5, '["short"]')), DAMAGED],
    ["one with a fraction", () => sealed(lines().with(5, line(5).replace(",1,", ",1.5,"))), DAMAGED],
    ["one of a later format", () => withHeader({ formatVersion: 2, lyrebird: "9.9.9" }), LATER],
    [
      "one with later tables",
      () => withHeader({ migrations: [...header().migrations, "9999-later"], lyrebird: "9.9.9" }),
      LATER,
    ],
    [
      "one with earlier tables than any that are upgraded",
      () => withHeader({ migrations: header().migrations.slice(0, 4), lyrebird: "9.9.9" }),
      LATER,
    ],
  ];
  const line = (index: number) => lines()[index] ?? "";

  test.each(cases)("%s", async (_, make, why) => {
    const file = join(directory, "spoilt.backup");
    const made = make();
    if (Buffer.isBuffer(made)) writeFileSync(file, made);
    else writeLines(file, made as readonly string[]);
    await expect(checkBackup(file)).rejects.toThrow(why);
    await expect(checkBackup(file)).rejects.toThrow(BackupUnfit);
  });

  const seed = testSeed();
  test(`one with any one byte changed, from seed ${seed}`, async () => {
    const random = seededRandom(seed);
    for (let spoilt = 0; spoilt < 40; spoilt += 1) {
      const file = join(directory, `spoilt-${spoilt}.backup`);
      const changed = Buffer.from(bytes());
      const position = Math.floor(random() * changed.length);
      changed[position] = (changed[position] ?? 0) ^ (1 << Math.floor(random() * 8));
      // When and where it was made, and the last bits of a block, change nothing that it holds.
      if (unpacked(changed)?.equals(gunzipSync(bytes())) === true) continue;
      writeFileSync(file, changed);
      await expect(checkBackup(file), `byte ${position}`).rejects.toThrow(BackupUnfit);
    }
  });

  test("one that is damaged after it was checked leaves no database, nor any part of one", async () => {
    const file = join(directory, "spoilt.backup");
    writeFileSync(file, bytes());
    const backup = await checkBackup(file);
    writeLines(file, lines().slice(0, -1));
    mkdirSync(join(directory, "new"));
    await expect(restoreSqlite(join(directory, "new", "a.sqlite"), backup)).rejects.toThrow(DAMAGED);
    expect(readdirSync(join(directory, "new"))).toEqual([]);
  });

  test("one for other tables", async () => {
    const file = join(directory, "other.backup");
    const head = lines().findIndex((each) => each.startsWith('{"table":"audit"'));
    writeLines(file, sealed(lines().with(head, line(head).replace("about_id", "key"))));
    const backup = await checkBackup(file);
    await expect(restoreSqlite(join(directory, "a.sqlite"), backup)).rejects.toThrow(
      /holds a table that its version did not have: audit/,
    );
    expect(existsSync(join(directory, "a.sqlite"))).toBe(false);
  });
});

/** What a gzip file holds; null if it is none. */
function unpacked(bytes: Buffer): Buffer | null {
  try {
    return gunzipSync(bytes);
  } catch {
    return null;
  }
}
