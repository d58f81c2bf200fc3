// Copies: who may start one, which changes people make, and what reads return.
import { beforeEach, describe, expect, test } from "vitest";
import { type Copy, EMPTY_BOOK } from "../../../domain/copying.ts";
import { STOPPED_LISTED_MAX } from "../../copying/copies.ts";
import { actionsIn } from "../people/people-records.ts";
import { accountOf, commitOf, upTo } from "../records.ts";
import { commit, type Opened } from "../store-under-test.ts";
import {
  actionOf,
  advanceOf,
  auditedAs,
  claim,
  copyOf,
  follow,
  HOLDER,
  OTHER_SETTINGS,
  openToCopiers,
  SETTINGS,
  venueAccountOf,
} from "./records.ts";

export function copyingCopyCases(opened: Opened): void {
  describe("copies", () => {
    const { store, copying } = opened;
    beforeEach(async () => {
      await openToCopiers(store, "one", "two");
    });

    const connect = (personId: string, terms = {}) =>
      copying.connectAccount(venueAccountOf(personId, terms), auditedAs("VENUE_ACCOUNT_CONNECTED"), {
        liveMax: 9,
      });
    const begin = (personId: string, strategyId: string, terms: Partial<Copy> = {}) =>
      copying.createCopy(copyOf(personId, strategyId, terms), auditedAs("COPY_STARTED", personId));
    const change = (
      copyId: string,
      [from, status]: readonly [Copy["status"], Copy["status"]],
      reason: Copy["reason"] = null,
      at = 9_000,
    ) => copying.changeCopy({ copyId, from: [from], status, reason, at }, auditedAs("COPY_PAUSED"));

    test("a copy begins at the strategy's version and the lead's last action of now", async () => {
      await claim(store);
      await commit(store, [commitOf(accountOf("one"), 2)]);
      const actions = upTo(3).map((seq) => actionOf(seq, 1));
      await copying.advanceLead(advanceOf("one", [0, 1], actions));
      await connect("ann");
      const [before] = await copying.listClaimed(HOLDER);
      expect(await begin("ann", "one")).toBe("CREATED");
      const copy = { ...copyOf("ann", "one"), fromVersion: 2, doneSeq: 3, revision: 1 };
      expect(await copying.findCopy("ann-one")).toEqual(copy);
      expect(await copying.listCopiesOf("ann")).toEqual([copy]);
      expect(await copying.listClaimed(HOLDER)).toMatchObject([
        { strategyId: "one", revision: (before?.revision ?? 0) + 1 },
        { strategyId: "two" },
      ]);
      for (const nobody of ["ghost", ""]) {
        expect(await copying.findCopy(nobody)).toBeNull();
        expect(await copying.listCopiesOf(nobody)).toEqual([]);
      }
      expect((await actionsIn(store)).at(-1)).toBe("COPY_STARTED");
    });

    test("a person's live copies are listed, however old, and the newest of the stopped ones", async () => {
      await connect("ann");
      expect(await begin("ann", "one", { startedAt: 5 })).toBe("CREATED");
      await connect("ann", { accountId: "other" });
      const stopped = upTo(STOPPED_LISTED_MAX + 3).map((number) => ({
        copyId: `stopped-${number}`,
        startedAt: number < 3 ? 1_000 : 1_000 + number,
      }));
      for (const { copyId, startedAt } of stopped) {
        expect(await begin("ann", "two", { copyId, startedAt, accountId: "other" })).toBe("CREATED");
        expect(await change(copyId, ["FOLLOWING", "STOPPED"], "COPIER")).toBe(true);
      }
      const last = { copyId: "last", startedAt: 1_050, accountId: "other" };
      expect(await begin("ann", "two", last)).toBe("CREATED");
      const listed = await copying.listCopiesOf("ann");
      const newest = [...stopped.slice(3), last].sort(
        (one, other) => other.startedAt - one.startedAt || (one.copyId < other.copyId ? -1 : 1),
      );
      expect(listed.map(({ copyId }) => copyId)).toEqual([...newest.map(({ copyId }) => copyId), "ann-one"]);
    });

    test("a strategy that is closed, or not open, or that there is not, cannot be followed", async () => {
      await connect("ann");
      await commit(store, [commitOf(accountOf("one", "CLOSING"), 2)]);
      await copying.setOpenToCopiers("two", false, auditedAs("STRATEGY_CLOSED_TO_COPIERS"));
      for (const strategyId of ["one", "two", "ghost"]) {
        expect(await begin("ann", strategyId)).toBe("NOT_OPEN");
      }
      expect(await copying.listCopiesOf("ann")).toEqual([]);
      expect(await actionsIn(store)).not.toContain("COPY_STARTED");
    });

    test("an account serves one live copy, and a person follows a strategy once at a time", async () => {
      await connect("ann");
      await connect("ann", { accountId: "spare" });
      expect(await begin("ann", "one")).toBe("CREATED");
      expect(await begin("ann", "two")).toBe("TAKEN");
      expect(await begin("ann", "one", { copyId: "again", accountId: "spare" })).toBe("TAKEN");
      expect(await change("ann-one", ["FOLLOWING", "CLOSING"])).toBe(true);
      expect(await begin("ann", "two")).toBe("TAKEN");
      expect(await change("ann-one", ["CLOSING", "STOPPED"], "COPIER")).toBe(true);
      expect(await begin("ann", "two")).toBe("CREATED");
      expect(await begin("ann", "one", { copyId: "again", accountId: "spare" })).toBe("CREATED");
      // The id is the copy's alone.
      await change("ann-two", ["FOLLOWING", "STOPPED"], "COPIER");
      expect(await begin("ann", "two")).toBe("TAKEN");
    });

    test.each([
      ["another's", { personId: "bob" }],
      ["of another type", { type: "FUTURES" }],
      ["not accepted by the venue", { status: "FAILED", failure: "no" }],
      ["disconnected", { status: "DISCONNECTED", sealed: null }],
      ["not there", { accountId: "another" }],
    ])("an account that is %s serves no copy", async (_what, terms) => {
      await connect("ann", terms);
      expect(await begin("ann", "one")).toBe("TAKEN");
      expect(await begin("ann", "one", { type: "FUTURES" })).toBe("TAKEN");
      expect(await copying.listCopiesOf("ann")).toEqual([]);
    });

    test("its status changes from those that were named alone, and is over for good when it is stopped", async () => {
      const [copyId = ""] = await follow(store, "one", "ann");
      expect(await change(copyId, ["PAUSED", "FOLLOWING"])).toBe(false);
      expect(await change("ghost", ["FOLLOWING", "PAUSED"])).toBe(false);
      expect(await change(copyId, ["FOLLOWING", "PAUSED"], "COPIER")).toBe(true);
      expect(await copying.findCopy(copyId)).toMatchObject({
        status: "PAUSED",
        reason: "COPIER",
        endedAt: null,
        revision: 2,
      });
      expect(await change(copyId, ["PAUSED", "FOLLOWING"])).toBe(true);
      expect(await copying.findCopy(copyId)).toMatchObject({ status: "FOLLOWING", reason: null });
      expect(await change(copyId, ["FOLLOWING", "STOPPED"], "COPIER", 9_999)).toBe(true);
      expect(await copying.findCopy(copyId)).toMatchObject({ status: "STOPPED", endedAt: 9_999 });
      expect(await actionsIn(store)).toHaveLength(6 + 2 + 3);
    });

    test("its settings change while it is live", async () => {
      const [copyId = ""] = await follow(store, "one", "ann");
      const settings = OTHER_SETTINGS;
      const first = (await copying.findCopy(copyId))?.settings ?? settings;
      const set = (id: string, from = first, to = settings) =>
        copying.changeSettings(id, { from, to }, auditedAs("COPY_SETTINGS_CHANGED"));
      expect([await set("ghost"), await set(copyId)]).toEqual([false, true]);
      expect(await copying.findCopy(copyId)).toMatchObject({ settings, revision: 2 });
      // A change that was made of other settings would undo this one.
      expect(await set(copyId, first, first)).toBe(false);
      expect(await copying.findCopy(copyId)).toMatchObject({ settings, revision: 2 });
      await change(copyId, ["FOLLOWING", "STOPPED"], "COPIER");
      expect(await set(copyId, settings)).toBe(false);
    });

    test("are listed by person newest first, by strategy oldest first, and counted by status and reason", async () => {
      for (const [index, name] of ["ann", "bob", "cat"].entries()) {
        await connect(name);
        await begin(name, "one", { startedAt: 3 - index });
      }
      await connect("ann", { accountId: "spare" });
      await begin("ann", "two", { accountId: "spare", startedAt: 9 });
      await change("bob-one", ["FOLLOWING", "STOPPED"], "STRATEGY_CLOSED");
      await change("cat-one", ["FOLLOWING", "PAUSED"], "STOP_LOSS");
      const idsOf = (copies: readonly Copy[]) => copies.map(({ copyId }) => copyId);
      expect(idsOf(await copying.listCopiesOf("ann"))).toEqual(["ann-two", "ann-one"]);
      const all = await copying.listCopiesOfStrategy("one", { isLive: false });
      expect(idsOf(all)).toEqual(["cat-one", "bob-one", "ann-one"]);
      const live = await copying.listCopiesOfStrategy("one", { isLive: true });
      expect(idsOf(live)).toEqual(["cat-one", "ann-one"]);
      expect(await copying.listCopiesOfStrategy("ghost", { isLive: true })).toEqual([]);
      expect(await copying.tallyCopies({ strategyId: "one" })).toEqual([
        { status: "FOLLOWING", reason: null, count: 1 },
        { status: "PAUSED", reason: "STOP_LOSS", count: 1 },
        { status: "STOPPED", reason: "STRATEGY_CLOSED", count: 1 },
      ]);
      expect((await copying.tallyCopies({ everybody: true })).map(({ count }) => count)).toEqual([2, 1, 1]);
    });

    test("what people may have changed is read of live ones, and of those that were stopped lately", async () => {
      const [ann = "", bob = "", cat = ""] = await follow(store, "one", "ann", "bob", "cat");
      await follow(store, "two", "dan");
      await change(bob, ["FOLLOWING", "STOPPED"], "COPIER", 100);
      await change(cat, ["FOLLOWING", "STOPPED"], "COPIER", 200);
      await change(ann, ["FOLLOWING", "CLOSING"], "COPIER");
      const controls = await copying.listControls("one", 200);
      expect(controls).toEqual([
        { copyId: ann, status: "CLOSING", reason: "COPIER", settings: SETTINGS },
        { copyId: cat, status: "STOPPED", reason: "COPIER", settings: SETTINGS },
      ]);
      expect(await copying.listControls("one", 100)).toHaveLength(3);
    });

    test("the revisions of copies are read, of those that exist", async () => {
      const [ann = "", bob = ""] = await follow(store, "one", "ann", "bob");
      await change(bob, ["FOLLOWING", "PAUSED"]);
      const asked = [ann, "ghost", bob];
      expect(await copying.revisionsOf(asked)).toEqual(
        new Map([
          [ann, 1],
          [bob, 2],
        ]),
      );
      expect(await copying.revisionsOf([])).toEqual(new Map());
      expect((await copying.findCopy(ann))?.book).toEqual(EMPTY_BOOK);
    });
  });
}
