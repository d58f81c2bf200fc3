// Pages of long mirror logs, on a real store: nothing is left out, and no page goes through more than it may.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newDirectory } from "../../../test/support/servers/gateway.ts";
import {
  claim,
  entryOf,
  follow,
  HOLDER,
  openToCopiers,
  progressOf,
  skippedOf,
} from "../../store/contract/copying/records.ts";
import type { EntryQuery } from "../../store/ports/copies.ts";
import { openSqliteStore, type SqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { LINES_AT_ONCE, LINES_FOR_A_PAGE, linesOf } from "./copy-lines.ts";

/** Longer than what a page goes through. */
const LINES = LINES_FOR_A_PAGE + LINES_AT_ONCE + 7;
const COPY = "ann-one";
/** Those that were skipped, oldest first: at both ends, and beside the places where it goes on. */
const SKIPPED = [1, 2, LINES - LINES_FOR_A_PAGE, LINES - LINES_AT_ONCE + 1, LINES - LINES_AT_ONCE, LINES - 3];

let directory: string;
let store: SqliteStore;
beforeAll(async () => {
  directory = newDirectory();
  store = await openSqliteStore(join(directory, "lyrebird.sqlite"));
  await openToCopiers(store, "one");
  await follow(store, "one", "ann");
  await claim(store);
  for (let first = 1; first <= LINES; first += LINES_AT_ONCE) {
    const ids = Array.from({ length: Math.min(LINES_AT_ONCE, LINES - first + 1) }, (_, at) => first + at);
    const entries = ids.map((id) => (SKIPPED.includes(id) ? skippedOf(COPY, id) : entryOf(COPY, id)));
    await store.copying.recordProgress("one", HOLDER, [progressOf(COPY, 1, { entries })]);
  }
});
afterAll(async () => {
  await store.close();
  rmSync(directory, { recursive: true });
});

/** The ids of each page, until the last. */
async function pages(query: Omit<EntryQuery, "before">): Promise<readonly (readonly number[])[]> {
  const all: number[][] = [];
  let before: number | undefined;
  do {
    const { found, next }: Awaited<ReturnType<typeof linesOf>> = await linesOf(store.copying, COPY, {
      ...query,
      before,
    });
    all.push(found.map(({ entryId }) => entryId));
    before = next ?? undefined;
  } while (before !== undefined);
  return all;
}

test("what a filter lets through is all there, page by page, however rare it is", async () => {
  const newestFirst = SKIPPED.toSorted((one, other) => other - one);
  expect((await pages({ statuses: ["SKIPPED"], limit: 2 })).flat()).toEqual(newestFirst);
  expect((await pages({ statuses: ["SKIPPED"], symbol: "BTCUSDT", limit: 100 })).flat()).toEqual(newestFirst);
  expect(await pages({ symbol: "ETHUSDT", limit: 9 })).toEqual([[], []]);
  expect(await linesOf(store.copying, "ghost", { statuses: ["FAILED"], limit: 9 })).toEqual({
    found: [],
    next: null,
  });
});

test("without a filter, and with one that much passes, pages are full", async () => {
  const newest = await linesOf(store.copying, COPY, { limit: 3 });
  expect(newest).toMatchObject({ next: LINES - 2 });
  expect(newest.found.map(({ entryId }) => entryId)).toEqual([LINES, LINES - 1, LINES - 2]);
  const filled = await linesOf(store.copying, COPY, { statuses: ["FILLED"], limit: 4, before: LINES });
  expect(filled.found.map(({ entryId }) => entryId)).toEqual([LINES - 1, LINES - 2, LINES - 4, LINES - 5]);
  expect(await linesOf(store.copying, COPY, { limit: 3, before: 3 })).toMatchObject({ next: null });
});

test("no question goes through more lines than may be gone through at once, and no page through more than its bound", async () => {
  const asked: EntryQuery[] = [];
  const copying = {
    listMirrorEntries: (copyId: string, query: EntryQuery) => {
      asked.push(query);
      return store.copying.listMirrorEntries(copyId, query);
    },
  };
  const { next } = await linesOf(copying, COPY, { statuses: ["FAILED"], limit: 9 });
  expect(next).toBe(LINES + 1 - LINES_FOR_A_PAGE);
  const [, ...filtered] = asked;
  for (const { before = 0, from = 0 } of filtered) expect(before - from).toBeLessThanOrEqual(LINES_AT_ONCE);
  expect(filtered).toHaveLength(LINES_FOR_A_PAGE / LINES_AT_ONCE);
});
