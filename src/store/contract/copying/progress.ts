// The progress of copies and their mirror logs. Only the holder of the lead writes them, atomically.
import { beforeEach, describe, expect, test } from "vitest";
import type { Copy, CopyReason, CopyStatus, MirrorEntry } from "../../../domain/copying.ts";
import { decimal } from "../../../money/decimal.ts";
import type { CopyProgress } from "../../ports/copies.ts";
import type { CopyStore } from "../../store.ts";
import { upTo } from "../records.ts";
import type { Opened } from "../store-under-test.ts";
import {
  auditedAs,
  COPIED_AT,
  claim,
  copiedByThree,
  entryOf,
  FULL_BOOK,
  follow,
  HOLDER,
  leave,
  OTHER_SETTINGS,
  progressOf,
  skippedOf,
} from "./records.ts";

export function copyingProgressCases(opened: Opened): void {
  describe("the progress of copies", () => {
    const { store, copying } = opened;
    const ann = "ann-one";
    const bob = "bob-one";
    const cat = "cat-two";
    beforeEach(async () => {
      await copiedByThree(store);
    });

    const record = (...progress: readonly CopyProgress[]) => copying.recordProgress("one", HOLDER, progress);
    const write = (copyId: string, ...entries: readonly MirrorEntry[]) =>
      record(progressOf(copyId, 1, { entries }));
    const logOf = (copyId: string) => copying.listMirrorEntries(copyId, { limit: 99 });
    const stop = (copyId: string, at = 4) => leave(store, copyId, "STOPPED", at);

    test("is written of several copies at once, exactly as it was given", async () => {
      const entries = [entryOf(ann, 1), skippedOf(ann, 2)];
      const his = [
        entryOf(bob, 1, { requestId: "r", seq: null, collectiveId: null, symbol: null, scale: null }),
      ];
      const given = [progressOf(bob, 7, { entries: his }), progressOf(ann, 9, { entries, book: FULL_BOOK })];
      expect(await record(...given)).toBe(true);
      const copy = await copying.findCopy(ann);
      expect(copy).toMatchObject({ book: FULL_BOOK, doneSeq: 9, status: "FOLLOWING", revision: 2 });
      expect([...(copy?.book.holdings.keys() ?? [])]).toEqual([...FULL_BOOK.holdings.keys()]);
      expect(await copying.findCopy(bob)).toMatchObject({ doneSeq: 7, revision: 2 });
      expect(await copying.findCopy(cat)).toMatchObject({ doneSeq: 0, revision: 1 });
      expect(await logOf(ann)).toEqual(entries.toReversed());
      expect(await logOf(bob)).toEqual(his);
      expect(await copying.findMirrorEntry(ann, 2)).toEqual(entries[1]);
      expect(await record()).toBe(true);
    });

    test("given again, as after a crash whose outcome nobody knows, is written once", async () => {
      const entries = upTo(3).map((entryId) => entryOf(ann, entryId));
      const progress = progressOf(ann, 3, { entries, book: FULL_BOOK });
      expect([await record(progress), await record(progress)]).toEqual([true, true]);
      expect(await logOf(ann)).toEqual(entries.toReversed());
      expect(await copying.findCopy(ann)).toMatchObject({ doneSeq: 3, book: FULL_BOOK });
      expect(await copying.countEntries(ann)).toMatchObject([{ count: 3 }]);
    });

    test("is not written by a server that has lost the lead, nor of another strategy's copies", async () => {
      await claim(store, { holder: "another", now: 2_000, until: 3_000 });
      expect(await write(ann, entryOf(ann, 1))).toBe(false);
      expect(await copying.recordProgress("ghost", "another", [progressOf(ann, 5)])).toBe(false);
      const theirs = [progressOf(cat, 5, { entries: [entryOf(cat, 1)] }), progressOf("ghost", 5)];
      expect(await copying.recordProgress("one", "another", [...theirs, progressOf(bob, 5)])).toBe(true);
      for (const untouched of [ann, cat]) {
        expect(await copying.findCopy(untouched)).toMatchObject({ doneSeq: 0, revision: 1 });
        expect(await logOf(untouched)).toEqual([]);
      }
      expect(await copying.findCopy(bob)).toMatchObject({ doneSeq: 5 });
    });

    test("moves a copy where it goes by itself, but for one that people have stopped", async () => {
      const follows = { status: "FOLLOWING", reason: null } as const;
      const moves = { from: follows, status: "PAUSED", reason: "CREDENTIALS", at: 5_000 } as const;
      await record(progressOf(ann, 1, { moves }));
      expect(await copying.findCopy(ann)).toMatchObject({
        status: "PAUSED",
        reason: "CREDENTIALS",
        endedAt: null,
      });
      const stops = { status: "STOPPED", reason: "STRATEGY_CLOSED", at: 6_000 } as const;
      await record(progressOf(ann, 2, { moves: { ...stops, from: moves } }));
      expect(await copying.findCopy(ann)).toMatchObject({ ...STOPPED, endedAt: 6_000, doneSeq: 2 });
      await record(progressOf(ann, 3, { moves: { from: moves, ...follows, at: 5_000 } }));
      expect(await copying.findCopy(ann)).toMatchObject({ ...STOPPED, endedAt: 6_000, doneSeq: 3 });
      await stop(bob);
      await record(progressOf(bob, 4, { moves: { ...stops, from: follows } }));
      const expected = { status: "STOPPED", reason: "COPIER", endedAt: 4, doneSeq: 4 };
      expect(await copying.findCopy(bob)).toMatchObject(expected);
    });

    test("moves no copy that is not any more as it was when that was decided, but closes it in any case", async () => {
      const change = (from: CopyStatus, status: CopyStatus, reason: CopyReason | null) =>
        copying.changeCopy({ copyId: ann, from: [from], status, reason, at: 3 }, auditedAs("COPY_STOPPED"));
      const follows = { status: "FOLLOWING", reason: null } as const;
      const closes = { status: "CLOSING", reason: "STOP_LOSS" } as const;
      const at = 5_000;
      const goTo = async (to: Pick<Copy, "status" | "reason">, from: Pick<Copy, "status" | "reason">) => {
        await record(progressOf(ann, 1, { moves: { from, ...to, at } }));
        const copy = await copying.findCopy(ann);
        return [copy?.status, copy?.reason];
      };
      await change("FOLLOWING", "PAUSED", "COPIER");
      expect(await goTo({ status: "PAUSED", reason: "CREDENTIALS" }, follows)).toEqual(["PAUSED", "COPIER"]);
      expect(await goTo(closes, follows)).toEqual(["CLOSING", "STOP_LOSS"]);
      // Closed by its owner while the stop loss was closing it already: it is to end for good.
      await change("CLOSING", "CLOSING", "COPIER");
      expect(await goTo({ status: "PAUSED", reason: "STOP_LOSS" }, closes)).toEqual(["CLOSING", "COPIER"]);
      expect(await goTo({ status: "CLOSING", reason: "STRATEGY_CLOSED" }, follows)).toEqual([
        "CLOSING",
        "COPIER",
      ]);
      const ofOwner = { status: "CLOSING", reason: "COPIER" } as const;
      expect(await goTo({ status: "STOPPED", reason: "COPIER" }, ofOwner)).toEqual(["STOPPED", "COPIER"]);
      expect(await goTo(closes, { status: "STOPPED", reason: "COPIER" })).toEqual(["STOPPED", "COPIER"]);
    });

    test("keeps the status and the settings that people have chosen since", async () => {
      const settings = OTHER_SETTINGS;
      const from = (await copying.findCopy(ann))?.settings ?? settings;
      const isChanged = copying.changeSettings(
        ann,
        { from, to: settings },
        auditedAs("COPY_SETTINGS_CHANGED"),
      );
      expect(await isChanged).toBe(true);
      await leave(store, ann, "PAUSED", 3);
      await record(progressOf(ann, 8, { book: FULL_BOOK }));
      const expected = { status: "PAUSED", reason: "COPIER", settings, doneSeq: 8, book: FULL_BOOK };
      expect(await copying.findCopy(ann)).toMatchObject(expected);
    });

    test("finishes what was asked of the copy, once", async () => {
      const request = { requestId: "r1", copyId: ann, kind: "LOOK", mayIncrease: false, askedAt: 1 } as const;
      await copying.addRequest({ ...request, doneAt: null, failure: null }, null);
      const finishes = [{ requestId: "r1", at: 50, failure: "not \0 now" }];
      // Of another copy it is not.
      await record(progressOf(bob, 1, { finishes }));
      expect(await copying.listPendingRequests("one")).toHaveLength(1);
      await record(progressOf(ann, 1, { finishes }));
      await record(
        progressOf(ann, 1, { finishes: finishes.map((each) => ({ ...each, at: 60, failure: null })) }),
      );
      expect(await copying.listPendingRequests("one")).toEqual([]);
      const done = { ...request, doneAt: 50, failure: "not \0 now" };
      expect(await copying.listRequests(ann, 9)).toEqual([done]);
    });

    test("a log is read newest first, page by page, by status and by symbol", async () => {
      const entries = upTo(6).map((entryId) =>
        entryId % 2 === 0
          ? skippedOf(ann, entryId)
          : entryOf(ann, entryId, { symbol: entryId === 5 ? "ETHUSDT" : "BTCUSDT" }),
      );
      await write(ann, ...entries);
      const idsOf = async (query: Parameters<CopyStore["listMirrorEntries"]>[1]) =>
        (await copying.listMirrorEntries(ann, query)).map(({ entryId }) => entryId);
      expect(await idsOf({ limit: 2 })).toEqual([6, 5]);
      expect(await idsOf({ before: 5, limit: 2 })).toEqual([4, 3]);
      expect(await idsOf({ statuses: ["FILLED", "FAILED"], limit: 9 })).toEqual([5, 3, 1]);
      expect(await idsOf({ symbol: "BTCUSDT", statuses: ["FILLED"], before: 3, limit: 9 })).toEqual([1]);
      expect(await idsOf({ statuses: ["SKIPPED"], from: 3, before: 6, limit: 9 })).toEqual([4]);
      expect(await copying.findMirrorEntry(ann, 7)).toBeNull();
      expect(await copying.findMirrorEntry(bob, 1)).toBeNull();
    });

    test("an entry that changes takes the place of what it was, in every list", async () => {
      const rests = entryOf(ann, 1, {
        status: "RESTING",
        executedQuantity: decimal("0"),
        collectiveId: "first",
      });
      await write(ann, rests, entryOf(ann, 2, { collectiveId: "first" }), entryOf(ann, 3));
      expect(await copying.listOpenEntries({ copyId: ann })).toEqual([rests]);
      expect(await copying.listExecuted({ strategyId: "one" }, { orders: 9, perOrder: 9 })).toHaveLength(2);
      const filled = { ...rests, status: "FILLED", executedQuantity: decimal("1") } as MirrorEntry;
      await write(ann, filled);
      expect(await copying.listOpenEntries({ copyId: ann })).toEqual([]);
      const ofFirst = await copying.listEntriesOf(ann, "first");
      expect(ofFirst).toEqual([filled, entryOf(ann, 2, { collectiveId: "first" })]);
      expect(await copying.listEntriesOf(bob, "first")).toEqual([]);
      expect(await copying.listExecuted({ strategyId: "one" }, { orders: 9, perOrder: 9 })).toHaveLength(3);
      expect(await copying.countEntries(ann)).toEqual([{ status: "FILLED", skipReason: null, count: 3 }]);
    });

    test("what rests is listed of a copy, oldest first, or of all live copies of a strategy", async () => {
      const restingOf = (copyId: string, entryId: number) => entryOf(copyId, entryId, { status: "RESTING" });
      await write(ann, restingOf(ann, 10), restingOf(ann, 9), entryOf(ann, 11));
      await write(bob, restingOf(bob, 1));
      await copying.recordProgress("two", HOLDER, [progressOf(cat, 1, { entries: [restingOf(cat, 1)] })]);
      const idsOf = (entries: readonly MirrorEntry[]) => entries.map((each) => [each.copyId, each.entryId]);
      expect(idsOf(await copying.listOpenEntries({ copyId: ann }))).toEqual([
        [ann, 9],
        [ann, 10],
      ]);
      const ofStrategy = await copying.listOpenEntries({ strategyId: "one" });
      expect(idsOf(ofStrategy)).toEqual([
        [ann, 9],
        [ann, 10],
        [bob, 1],
      ]);
      await stop(bob);
      expect(await copying.listOpenEntries({ strategyId: "one" })).toHaveLength(2);
      expect(await copying.listOpenEntries({ copyId: bob })).toHaveLength(1);
      expect(await Promise.all([ann, bob, "ghost"].map((id) => copying.countResting(id)))).toEqual([2, 1, 0]);
    });

    test("what was executed is listed order by order beside the strategy's own price, where that is known", async () => {
      const ofOrder = (copyId: string, entryId: number, order: number) =>
        entryOf(copyId, entryId, { collectiveId: `order-${order}`, leadAt: COPIED_AT + order });
      const unknown = [
        entryOf(ann, 20, { leadPrice: null }),
        entryOf(ann, 21, { executedQuantity: decimal("0") }),
      ];
      await write(ann, ofOrder(ann, 1, 1), ofOrder(ann, 4, 4), ...unknown, skippedOf(ann, 22));
      await write(bob, ofOrder(bob, 1, 1), ofOrder(bob, 4, 4), ofOrder(bob, 7, 4), ofOrder(bob, 9, 7));
      await write(bob, entryOf(bob, 30, { collectiveId: null }));
      await copying.recordProgress("two", HOLDER, [progressOf(cat, 1, { entries: [ofOrder(cat, 6, 6)] })]);
      const placesOf = async (
        of: Parameters<CopyStore["listExecuted"]>[0],
        bounds: { readonly orders: number; readonly perOrder: number },
      ) =>
        (await copying.listExecuted(of, bounds)).map(
          ({ collectiveId, copyId }) =>
            `${collectiveId} ${copyId === ann ? "ann" : copyId === bob ? "bob" : "cat"}`,
        );
      const [first, second] = ann < bob ? ["ann", "bob"] : ["bob", "ann"];
      expect(await placesOf({ strategyId: "one" }, { orders: 9, perOrder: 1 })).toEqual([
        "order-7 bob",
        `order-4 ${first}`,
        `order-1 ${first}`,
      ]);
      expect((await placesOf({ strategyId: "one" }, { orders: 9, perOrder: 9 })).slice(-2)).toEqual([
        `order-1 ${first}`,
        `order-1 ${second}`,
      ]);
      expect(await placesOf({ everybody: true }, { orders: 3, perOrder: 1 })).toEqual([
        "order-7 bob",
        "order-6 cat",
        `order-4 ${first}`,
      ]);
      expect((await copying.listExecuted({ everybody: true }, { orders: 1, perOrder: 1 }))[0]).toEqual({
        copyId: bob,
        strategyId: "one",
        entryId: 9,
        collectiveId: "order-7",
        kind: "PLACE",
        symbol: "BTCUSDT",
        side: "BUY",
        leadQuantity: decimal("0.5"),
        executedQuantity: decimal("0.25"),
        executedQuote: decimal("25"),
        leadPrice: decimal("100"),
        leadAt: COPIED_AT + 7,
        acknowledgedAt: COPIED_AT + 1,
      });
    });

    test("of an order that many copied there are a few of them, and those before it are there too", async () => {
      const names = upTo(60).map((number) => `person-${number}`);
      const copyIds = await follow(store, "one", ...names);
      for (const order of [1, 2, 3]) {
        const terms = { collectiveId: `order-${order}`, leadAt: COPIED_AT + order };
        await record(...copyIds.map((id) => progressOf(id, 1, { entries: [entryOf(id, order, terms)] })));
      }
      const listed = await copying.listExecuted({ strategyId: "one" }, { orders: 40, perOrder: 20 });
      const of = (order: number) => listed.filter(({ collectiveId }) => collectiveId === `order-${order}`);
      expect([of(3).length, of(2).length, of(1).length]).toEqual([20, 20, 20]);
    });

    test("two hundred copies are written in one go", async () => {
      const names = upTo(200).map((number) => `person-${number}`);
      const copyIds = await follow(store, "one", ...names);
      const progress = copyIds.map((copyId) => progressOf(copyId, 1, { entries: [entryOf(copyId, 1)] }));
      expect(await record(...progress)).toBe(true);
      expect(await copying.countEntriesSince({ strategyId: "one" }, 0)).toMatchObject([{ count: 200 }]);
      const copies = await copying.listCopiesOfStrategy("one", { isLive: true });
      expect(copies.filter(({ doneSeq }) => doneSeq === 1)).toHaveLength(200);
    });
  });
}

const STOPPED = { status: "STOPPED", reason: "STRATEGY_CLOSED" };
