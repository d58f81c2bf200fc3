// What copies have not done yet: which are behind their strategy, and which a closed strategy still waits
// for.
import { beforeEach, describe, expect, test } from "vitest";
import type { Copy } from "../../../domain/copying.ts";
import { accountOf, commitOf, upTo } from "../records.ts";
import { commit, type Opened } from "../store-under-test.ts";
import {
  actionOf,
  advanceOf,
  auditedAs,
  COPIED_AT,
  claim,
  follow,
  HOLDER,
  leave,
  openToCopiers,
  progressOf,
  VENUE,
} from "./records.ts";

export function copyingUnfinishedCases(opened: Opened): void {
  describe("what copies have not done", () => {
    const { store, copying } = opened;
    beforeEach(async () => {
      await openToCopiers(store, "one", "two");
      await claim(store);
    });

    /** Actions of these numbers, each of the version of its number and a millisecond after the one before. */
    async function act(strategyId: string, [from, to]: readonly [number, number]): Promise<void> {
      const actions = upTo(to)
        .slice(from - 1)
        .map((seq) => actionOf(seq, seq));
      expect(await copying.advanceLead(advanceOf(strategyId, [from - 1, to], actions))).toBe(true);
    }
    const change = (copyId: string, status: Copy["status"]) => leave(store, copyId, status, 9_000);
    const dealWith = (copyId: string, seq: number) =>
      copying.recordProgress("one", HOLDER, [progressOf(copyId, seq)]);

    test("a copy is behind by the actions since it began that it has not dealt with, from the oldest of them on", async () => {
      await commit(store, [commitOf(accountOf("one"), 2)]);
      const [ann = "", bob = ""] = await follow(store, "one", "ann", "bob");
      expect(await copying.findBehind(ann)).toBeNull();
      // The first two are of the versions that were there when it began.
      await act("one", [1, 2]);
      expect(await copying.findBehind(ann)).toBeNull();
      await act("one", [3, 7]);
      expect(await copying.findBehind(ann)).toEqual({ actions: 5, since: COPIED_AT + 3 });
      await dealWith(ann, 6);
      expect(await copying.findBehind(ann)).toEqual({ actions: 1, since: COPIED_AT + 7 });
      await change(ann, "PAUSED");
      expect(await copying.findBehind(ann)).not.toBeNull();
      await dealWith(ann, 7);
      expect(await copying.findBehind(ann)).toBeNull();
      await change(bob, "CLOSING");
      expect(await copying.findBehind(bob)).toBeNull();
    });

    test("copies are counted that have not dealt with what was done before a time", async () => {
      await commit(store, [commitOf(accountOf("one"), 2)]);
      const [ann = "", bob = "", cat = "", dan = ""] = await follow(store, "one", "ann", "bob", "cat", "dan");
      await follow(store, "two", "eve");
      const one = { strategyId: "one" } as const;
      const counts = async (...times: readonly number[]) =>
        await Promise.all(times.map((seq) => copying.countBehind(one, COPIED_AT + seq)));
      expect(await counts(99)).toEqual([0]);
      await act("one", [1, 20]);
      await act("two", [1, 4]);
      await dealWith(ann, 5);
      await dealWith(bob, 12);
      await dealWith(cat, 20);
      await change(dan, "PAUSED");
      // Done: 5, 12, 20, and of dan nothing, whose first is the third.
      expect(await counts(3, 4, 6, 7, 13, 14, 99)).toEqual([0, 1, 1, 2, 2, 3, 3]);
      expect(await copying.countBehind({ everybody: true }, COPIED_AT + 99)).toBe(4);
      expect(await copying.countBehind({ everybody: true }, COPIED_AT)).toBe(0);
      await change(ann, "STOPPED");
      await change(bob, "CLOSING");
      expect(await counts(99)).toEqual([1]);
    });

    test("copies that a closed strategy waits for are counted by what is known of them", async () => {
      const [ann = "", bob = "", cat = ""] = await follow(store, "one", "ann", "bob", "cat", "dan");
      await follow(store, "two", "eve");
      const one = { strategyId: "one" } as const;
      expect(await copying.tallyUnclosed(one)).toEqual([]);
      await commit(store, [commitOf(accountOf("one", "CLOSING"), 2)]);
      const known = { venue: VENUE, accountStatus: "CONNECTED", isHalted: false } as const;
      const following = { ...known, status: "FOLLOWING", reason: null } as const;
      expect(await copying.tallyUnclosed(one)).toEqual([{ ...following, count: 4 }]);
      await change(ann, "STOPPED");
      await change(bob, "CLOSING");
      const accountId = (await copying.findCopy(cat))?.accountId ?? "";
      await copying.noteAccountChecked(accountId, { status: "FAILED", failure: "no key", at: 3 });
      const set = { setBy: "tom", reason: "odd", setAt: 4 };
      await copying.setSwitch({ ...set, kind: "COPIER", id: "dan" }, auditedAs("KILL_SWITCH_SET"));
      const told = [
        { ...known, status: "CLOSING", reason: "COPIER", count: 1 },
        { ...following, accountStatus: "FAILED", count: 1 },
        { ...following, isHalted: true, count: 1 },
      ];
      const found = await copying.tallyUnclosed(one);
      expect(found).toHaveLength(3);
      expect(found).toEqual(expect.arrayContaining(told));
      // Two switches over one copy make it no two.
      await copying.setSwitch({ ...set, kind: "VENUE", id: VENUE }, auditedAs("KILL_SWITCH_SET"));
      const halted = await copying.tallyUnclosed({ everybody: true });
      expect(halted.map(({ isHalted, count }) => [isHalted, count])).toEqual([
        [true, 1],
        [true, 1],
        [true, 1],
      ]);
    });
  });
}
