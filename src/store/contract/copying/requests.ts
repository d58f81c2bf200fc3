// What is asked of copies, once at a time, and the switches that stop all sending.
import { beforeEach, describe, expect, test } from "vitest";
import type { CopyRequest, KillSwitch } from "../../../domain/copying.ts";
import { actionsIn } from "../people/people-records.ts";
import { accountOf, commitOf } from "../records.ts";
import { commit, type Opened } from "../store-under-test.ts";
import { auditedAs, claim, copiedByThree, HOLDER, leave, progressOf, VENUE } from "./records.ts";

export function copyingRequestCases(opened: Opened): void {
  describe("what people ask of copies", () => {
    const { store, copying } = opened;
    const [ann, bob, cat] = ["ann-one", "bob-one", "cat-two"] as const;
    beforeEach(async () => {
      await copiedByThree(store);
    });

    const requestOf = (requestId: string, copyId: string, terms: Partial<CopyRequest> = {}): CopyRequest => ({
      requestId,
      copyId,
      kind: "REPAIR",
      mayIncrease: true,
      askedAt: 1_000,
      doneAt: null,
      failure: null,
      ...terms,
    });
    /** Of the leads one and two, and of ann's, bob's and cat's copies. */
    const revisions = async () => {
      const leads = await copying.listClaimed(HOLDER);
      const copies = await copying.revisionsOf([ann, bob, cat]);
      return [...leads.map(({ revision }) => revision), ...[ann, bob, cat].map((id) => copies.get(id) ?? 0)];
    };
    /** By how much each has grown since. */
    const grown = async (before: readonly number[]) =>
      (await revisions()).map((revision, index) => revision - (before[index] ?? 0));

    test("a request is pending once of its kind, until it is done", async () => {
      const before = await revisions();
      const first = requestOf("r1", ann);
      const asked = auditedAs("COPY_REPAIR_ASKED");
      expect(await copying.addRequest(first, asked)).toEqual(first);
      expect(await grown(before)).toEqual([1, 0, 1, 0, 0]);
      expect(await copying.addRequest(requestOf("r2", ann, { mayIncrease: false }), asked)).toEqual(first);
      expect(await grown(before)).toEqual([1, 0, 1, 0, 0]);
      const look = requestOf("r3", ann, { kind: "LOOK", mayIncrease: false, askedAt: 900 });
      expect(await copying.addRequest(look, null)).toEqual(look);
      const his = requestOf("r4", bob, { askedAt: 1_001 });
      await copying.addRequest(his, asked);
      await copying.addRequest(requestOf("r5", cat), asked);
      expect(await copying.listPendingRequests("one")).toEqual([look, first, his]);
      const finishes = [{ requestId: "r1", at: 2_000, failure: null }];
      await copying.recordProgress("one", HOLDER, [progressOf(ann, 1, { finishes })]);
      expect(await copying.listPendingRequests("one")).toEqual([look, his]);
      const next = requestOf("r6", ann, { askedAt: 3_000 });
      expect(await copying.addRequest(next, asked)).toEqual(next);
      const listed = await copying.listRequests(ann, 2);
      expect(listed).toEqual([next, { ...first, doneAt: 2_000 }]);
      const repairs = (await actionsIn(store)).filter((what) => what === "COPY_REPAIR_ASKED");
      expect(repairs).toHaveLength(4);
    });

    test("what is asked with a change of a copy is asked if it changes, and its lead is claimed until it is done", async () => {
      const at = 2_000;
      const asks = requestOf("w1", ann, { kind: "WITHDRAW", mayIncrease: false, askedAt: at });
      const stop = (from: "FOLLOWING" | "PAUSED") => {
        const change = { copyId: ann, from: [from], status: "STOPPED", reason: "COPIER", at, asks } as const;
        return copying.changeCopy(change, auditedAs("COPY_STOPPED"));
      };
      const before = await revisions();
      expect(await stop("PAUSED")).toBe(false);
      expect(await copying.listPendingRequests("one")).toEqual([]);
      expect(await copying.isWithdrawing("ann")).toBe(false);
      expect(await stop("FOLLOWING")).toBe(true);
      expect([await copying.isWithdrawing("ann"), await copying.isWithdrawing("bob")]).toEqual([true, false]);
      expect(await copying.listPendingRequests("one")).toEqual([asks]);
      expect((await grown(before))[0]).toBe(1);

      await leave(store, bob, "STOPPED", at);
      await commit(store, [commitOf(accountOf("one", "CLOSED"), 2)]);
      expect(await claim(store)).toEqual(["one", "two"]);
      const finishes = [{ requestId: "w1", at, failure: null }];
      await copying.recordProgress("one", HOLDER, [progressOf(ann, 0, { finishes })]);
      expect(await copying.listPendingRequests("one")).toEqual([]);
      expect(await copying.isWithdrawing("ann")).toBe(false);
      expect(await claim(store)).toEqual(["two"]);
    });

    test("a switch is set and cleared once, and everybody it concerns can see it", async () => {
      const switches: readonly (readonly [KillSwitch["kind"], string, readonly number[]])[] = [
        ["COPIER", "ann", [1, 0, 1, 0, 0]],
        ["STRATEGY", "one", [1, 0, 1, 1, 0]],
        ["VENUE", VENUE, [1, 1, 1, 1, 1]],
      ];
      for (const [index, [kind, id, concerned]] of switches.entries()) {
        const before = await revisions();
        const set: KillSwitch = { kind, id, reason: "because", setBy: "op", setAt: index };
        expect(await copying.setSwitch(set, auditedAs("KILL_SWITCH_SET"))).toBe(true);
        expect(await grown(before)).toEqual(concerned);
        const again = { ...set, reason: "another" };
        expect(await copying.setSwitch(again, auditedAs("KILL_SWITCH_SET"))).toBe(false);
        expect((await copying.listSwitches()).at(-1)).toEqual(set);
        expect(await grown(before)).toEqual(concerned);
      }
      expect(await copying.listSwitches()).toHaveLength(3);
      for (const [kind, id, concerned] of switches) {
        const before = await revisions();
        expect(await copying.clearSwitch(kind, "another", auditedAs("KILL_SWITCH_CLEARED"))).toBe(false);
        expect(await copying.clearSwitch(kind, id, auditedAs("KILL_SWITCH_CLEARED"))).toBe(true);
        expect(await copying.clearSwitch(kind, id, auditedAs("KILL_SWITCH_CLEARED"))).toBe(false);
        expect(await grown(before)).toEqual(concerned);
      }
      expect(await copying.listSwitches()).toEqual([]);
      const audited = (await actionsIn(store)).filter((what) => what.startsWith("KILL_SWITCH"));
      expect(audited).toHaveLength(6);
      expect(await store.people.verifyAudit()).toBeNull();
    });

    test("a switch is taken over from somebody else, once, and is then cleared by nobody but its new owner", async () => {
      const [set, cleared] = [auditedAs("KILL_SWITCH_SET"), auditedAs("KILL_SWITCH_CLEARED")];
      const own: KillSwitch = { kind: "COPIER", id: "ann", reason: "mine", setBy: "ann", setAt: 1 };
      const other: KillSwitch = { ...own, id: "bob", setBy: "bob" };
      const operators: KillSwitch = { ...own, reason: "theirs", setBy: "op", setAt: 2 };
      expect(await copying.setSwitch(own, set, { takesOver: true })).toBe(true);
      expect(await copying.setSwitch(other, set, { takesOver: false })).toBe(true);

      expect(await copying.setSwitch(own, set, { takesOver: false })).toBe(false);
      const before = await revisions();
      expect(await copying.setSwitch(operators, set, { takesOver: true })).toBe(true);
      expect(await copying.listSwitches()).toEqual([other, operators]);
      expect(await grown(before)).toEqual([1, 0, 1, 0, 0]);
      const again = { ...operators, reason: "again", setAt: 3 };
      expect(await copying.setSwitch(again, set, { takesOver: true })).toBe(false);
      expect(await copying.clearSwitch("COPIER", "ann", cleared, { setBy: "ann" })).toBe(false);
      expect(await copying.listSwitches()).toEqual([other, operators]);
      expect(await grown(before)).toEqual([1, 0, 1, 0, 0]);

      const second = { ...operators, setBy: "op2", setAt: 4 };
      expect(await copying.setSwitch(second, set, { takesOver: true })).toBe(true);
      expect(await copying.clearSwitch("COPIER", "ann", cleared, { setBy: "op2" })).toBe(true);
      // What its person has set stays until that person, or an operator, clears it.
      expect(await copying.listSwitches()).toEqual([own, other]);
      expect(await copying.clearSwitch("COPIER", "ann", cleared, { setBy: "ann" })).toBe(true);
      expect(await copying.clearSwitch("COPIER", "bob", cleared, { setBy: null })).toBe(true);
      expect(await copying.listSwitches()).toEqual([]);
      const actions = (await actionsIn(store)).filter((what) => what.startsWith("KILL_SWITCH"));
      expect(actions.filter((what) => what === "KILL_SWITCH_SET")).toHaveLength(4);
      expect(actions.filter((what) => what === "KILL_SWITCH_CLEARED")).toHaveLength(3);
      expect(await store.people.verifyAudit()).toBeNull();
    });

    test("a switch that a person sets beneath another's is set when that is cleared", async () => {
      const [set, cleared] = [auditedAs("KILL_SWITCH_SET"), auditedAs("KILL_SWITCH_CLEARED")];
      const own: KillSwitch = { kind: "COPIER", id: "ann", reason: "mine", setBy: "ann", setAt: 2 };
      const operators: KillSwitch = { ...own, reason: "theirs", setBy: "op", setAt: 1 };
      expect(await copying.setSwitch(operators, set, { takesOver: true })).toBe(true);
      expect(await copying.setSwitch(own, set, { takesOver: false })).toBe(true);
      expect(await copying.setSwitch({ ...own, reason: "again" }, set, { takesOver: false })).toBe(false);
      expect(await copying.listSwitches()).toEqual([operators]);
      expect(await copying.clearSwitch("COPIER", "ann", cleared, { setBy: null })).toBe(true);
      expect(await copying.listSwitches()).toEqual([own]);
    });

    test("a stopped copy is not concerned by anything any more", async () => {
      await copying.changeCopy(
        { copyId: ann, from: ["FOLLOWING"], status: "STOPPED", reason: "COPIER", at: 1 },
        auditedAs("COPY_STOPPED"),
      );
      const before = await revisions();
      const set: KillSwitch = { kind: "COPIER", id: "ann", reason: "", setBy: "ann", setAt: 1 };
      expect(await copying.setSwitch(set, auditedAs("KILL_SWITCH_SET"))).toBe(true);
      expect(await grown(before)).toEqual([0, 0, 0, 0, 0]);
    });
  });
}
