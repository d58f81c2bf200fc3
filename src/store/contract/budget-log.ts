// The log of budgets is one order for every process that writes to it, and forgets what is too old.
import { describe, expect, test } from "vitest";
import type { Store } from "../store.ts";
import { accountOf, budgetsOf, commitOf, upTo } from "./records.ts";
import { create, type Opened } from "./store-under-test.ts";

export function budgetLogCases(opened: Opened): void {
  describe("the budget log", () => {
    const { store } = opened;

    const FOR_EVER = { forgetBefore: 0 };
    const everything = async (from: Store) =>
      await from.listBudgets({ after: 0, exceptOf: "nobody", limit: 1_000 });

    test("reads back entries as they were written, in their order", async () => {
      const entries = [budgetsOf("one", 1_795_228_304_525), budgetsOf("two", 1_000), budgetsOf("one", 2_000)];
      for (const entry of entries) await store.logBudgets([entry], FOR_EVER);
      expect(await everything(store)).toEqual(
        entries.map((entry, index) => ({ position: index + 1, entry })),
      );
    });

    test("takes entries one in a turn of the event loop, stores them together, and nothing if there are none", async () => {
      let turns = 0;
      const turnsBefore: number[] = [];
      const entries = function* () {
        for (const at of upTo(5)) {
          turnsBefore.push(turns);
          setImmediate(() => {
            turns += 1;
          });
          yield budgetsOf("one", at);
        }
      };
      await store.logBudgets(entries(), FOR_EVER);
      expect(turnsBefore).toEqual([0, 1, 2, 3, 4]);
      await store.logBudgets([], { forgetBefore: 9_000 });
      const all = await everything(store);
      expect(all.map(({ position, entry }) => [position, entry.at])).toEqual(upTo(5).map((at) => [at, at]));
      const some = await store.listBudgets({ after: 1, exceptOf: "nobody", limit: 3 });
      expect(some).toEqual(all.slice(1, 4));
    });

    test("is read on from a position, without one's own entries", async () => {
      for (const process of ["one", "two", "one", "two"]) {
        await store.logBudgets([budgetsOf(process, 1_000)], FOR_EVER);
      }
      const read = await store.listBudgets({ after: 1, exceptOf: "two", limit: 1_000 });
      expect(read.map(({ position, entry }) => [position, entry.process])).toEqual([[3, "one"]]);
      expect(await store.listBudgets({ after: 4, exceptOf: "nobody", limit: 1_000 })).toEqual([]);
    });

    test("forgets what is too old when something is added, and no position is given twice", async () => {
      for (const at of [1_000, 2_000, 3_000]) await store.logBudgets([budgetsOf("one", at)], FOR_EVER);
      await store.logBudgets([budgetsOf("two", 4_000)], { forgetBefore: 3_000 });
      expect((await everything(store)).map(({ position, entry }) => [position, entry.at])).toEqual([
        [3, 3_000],
        [4, 4_000],
      ]);
      await store.logBudgets([budgetsOf("one", 9_000)], { forgetBefore: 9_000 });
      await store.logBudgets([budgetsOf("two", 9_001)], { forgetBefore: 9_001 });
      expect((await everything(store)).map(({ position }) => position)).toEqual([6]);
    });

    test("written by two stores at once, shows both everything in one order", async () => {
      const other = await opened.reopen();
      await Promise.all(
        upTo(10).flatMap((at) => [
          store.logBudgets([budgetsOf("here", at)], FOR_EVER),
          other.logBudgets([budgetsOf("there", at)], FOR_EVER),
        ]),
      );
      const read = await everything(store);
      expect(read.map(({ position }) => position)).toEqual(upTo(20));
      expect(await everything(other)).toEqual(read);
      for (const process of ["here", "there"]) {
        const own = read.filter(({ entry }) => entry.process === process);
        expect(own.map(({ entry }) => entry.at)).toEqual(upTo(10));
      }
    });

    test("stands beside commits that are under way, and rejects when the store is closed", async () => {
      await create(store, "one");
      const [outcomes] = await Promise.all([
        store.commit([commitOf(accountOf("one"), 2)]),
        store.logBudgets([budgetsOf("one", 1_000)], FOR_EVER),
      ]);
      expect(outcomes).toEqual(["COMMITTED"]);
      await store.close();
      await expect(store.logBudgets([budgetsOf("one", 2_000)], FOR_EVER)).rejects.toThrow();
      expect((await everything(await opened.reopen())).map(({ entry }) => entry.at)).toEqual([1_000]);
    });
  });
}
