// Leads: strategies that may be followed, who works at them, and what they did.
import { describe, expect, test } from "vitest";
import type { LeadFilled, OrderIntent } from "../../../domain/copying.ts";
import { decimal } from "../../../money/decimal.ts";
import type { OpenStrategy } from "../../ports/leads.ts";
import { futuresAccountOf } from "../futures-records.ts";
import { actionsIn } from "../people/people-records.ts";
import { accountOf, commitOf, createdOf, keyOf, orderOf, upTo } from "../records.ts";
import { commit, create, type Opened } from "../store-under-test.ts";
import {
  actionOf,
  advanceOf,
  auditedAs,
  claim,
  follow,
  HOLDER,
  leave,
  openToCopiers,
  placementOf,
  progressOf,
} from "./records.ts";

export function copyingLeadCases(opened: Opened): void {
  describe("leads", () => {
    const { store, copying } = opened;

    const open = (strategyId: string, isOpen = true) =>
      copying.setOpenToCopiers(
        strategyId,
        isOpen,
        auditedAs(isOpen ? "STRATEGY_OPENED_TO_COPIERS" : "STRATEGY_CLOSED_TO_COPIERS"),
      );
    const close = (strategyId: string, version = 2) =>
      commit(store, [commitOf(accountOf(strategyId, "CLOSED"), version)]);

    test("a strategy is opened to copiers and closed to them, and is a lead from the first time on", async () => {
      await store.createStrategies([createdOf("one", { ownerId: "tom" })]);
      expect(await copying.findLead("one")).toBeNull();
      expect(await copying.isOpenToCopiers("one")).toBe(false);
      expect(await open("one", false)).toBe(false);
      expect([await open("one"), await open("one")]).toEqual([true, false]);
      expect(await copying.isOpenToCopiers("one")).toBe(true);
      const lead = { strategyId: "one", type: "SPOT", account: null, version: 0, seq: 0 };
      expect(await copying.findLead("one")).toEqual(lead);
      expect([await open("one", false), await open("one", false), await open("one")]).toEqual([
        true,
        false,
        true,
      ]);
      expect(await copying.findLead("one")).toEqual(lead);
      for (const nobody of ["ghost", ""]) {
        expect(await open(nobody)).toBe(false);
        expect(await copying.isOpenToCopiers(nobody)).toBe(false);
        expect(await copying.findLead(nobody)).toBeNull();
      }
      expect((await actionsIn(store)).slice(2)).toEqual([
        "STRATEGY_OPENED_TO_COPIERS",
        "STRATEGY_CLOSED_TO_COPIERS",
        "STRATEGY_OPENED_TO_COPIERS",
      ]);
    });

    test("what no copy needs any more is pruned: entries, and actions but for the newest and for each copy's first", async () => {
      await store.createStrategies([createdOf("one", { ownerId: "tom" })]);
      await open("one");
      const advance = async (from: number, until: number) => {
        await claim(store);
        const actions = Array.from({ length: until - from }, (_, index) =>
          actionOf(from + index + 1, from + index + 2),
        );
        const versions = [from === 0 ? 0 : from + 1, until + 1] as const;
        expect(await copying.advanceLead(advanceOf("one", versions, actions))).toBe(true);
      };
      const seqs = async () =>
        (await copying.listActions("one", { afterSeq: 0, limit: 99 })).map(({ seq }) => seq);
      for (const version of [2, 3, 4, 5])
        await commit(store, [commitOf(accountOf("one"), version, { key: null })]);
      await advance(0, 4);
      const [copyId = ""] = await follow(store, "one", "ann");
      for (const version of [6, 7, 8, 9, 10, 11])
        await commit(store, [commitOf(accountOf("one"), version, { key: null })]);
      await advance(4, 10);
      // The copy has dealt with nothing yet.
      await copying.pruneLead("one", { kept: 2 });
      expect(await seqs()).toEqual([5, 6, 7, 8, 9, 10]);
      expect(await copying.listEntriesAfter("one", 0, 99)).toEqual([]);
      await copying.recordProgress("one", HOLDER, [progressOf(copyId, 9)]);
      await copying.pruneLead("one", { kept: 2 });
      expect(await seqs()).toEqual([5, 9, 10]);
      await copying.pruneLead("ghost", { kept: 2 });
    });

    test("those that may be followed are live and somebody's, with how many follow them", async () => {
      await openToCopiers(store, "b", "a", "closed", "shut");
      await create(store, "nobodys");
      await open("nobodys");
      const perpetual = commitOf(futuresAccountOf("perpetual"), 1);
      await store.createStrategies([createdOf("perpetual", { first: perpetual, ownerId: "tom" })]);
      await open("perpetual");
      await close("closed");
      await open("shut", false);
      const [copyId = ""] = await follow(store, "a", "ann", "bob");
      await leave(store, copyId);
      const listed = await copying.listOpenStrategies({ limit: 9 });
      expect(listed.map(({ strategyId, copies }) => [strategyId, copies])).toEqual([
        ["a", 1],
        ["b", 0],
        ["perpetual", 0],
      ]);
      expect(listed[0]).toMatchObject({ type: "SPOT", status: "LIVE", name: "named a", ownerId: "tom" });
      const futures = await copying.listOpenStrategies({ type: "FUTURES", limit: 9 });
      expect(futures.map(({ strategyId }) => strategyId)).toEqual(["perpetual"]);
      expect(await copying.listOpenStrategies({ limit: 1 })).toHaveLength(1);
      expect(await copying.countOpenStrategies({})).toBe(3);
      expect(await copying.countOpenStrategies({ type: "FUTURES" })).toBe(1);
    });

    test("those that may be followed are listed newest first, a page at a time, each on one page", async () => {
      const ages: readonly (readonly [string, number])[] = [
        ["old", 10],
        ["b", 20],
        ["a", 20],
        ["c", 20],
        ["new", 30],
      ];
      await store.createStrategies(
        ages.map(([id, createdAt]) => createdOf(id, { ownerId: "tom", key: keyOf(id, { createdAt }) })),
      );
      for (const [id] of ages) await open(id);
      const pages: (readonly string[])[] = [];
      for (let last: OpenStrategy | undefined; pages.length === 0 || last !== undefined; ) {
        const after = last && { at: last.createdAt, id: last.strategyId };
        const page = await copying.listOpenStrategies({ limit: 2, after });
        pages.push(page.map(({ strategyId }) => strategyId));
        last = page.at(-1);
      }
      expect(pages).toEqual([["new", "a"], ["b", "c"], ["old"], []]);
    });

    test.each([
      ["a part of their name", "ten", ["Ten percent"]],
      ["the same in another case", "TEN P", ["Ten percent"]],
      ["a sign that stands for nothing else", "100%", ["100% spot"]],
      ["nor this", "_", []],
    ])("those that may be followed are found by %s", async (_what, search, expected) => {
      const names = ["Ten percent", "100% spot", "100 spot"];
      await store.createStrategies(names.map((name) => createdOf(name, { ownerId: "tom", name })));
      for (const name of names) await open(name);
      const found = await copying.listOpenStrategies({ search, limit: 9 });
      expect(found.map(({ name }) => name)).toEqual(expected);
      expect(await copying.countOpenStrategies({ search })).toBe(expected.length);
      expect(await copying.listOpenStrategies({ search, type: "FUTURES", limit: 9 })).toEqual([]);
    });

    test("the entries of a lead are listed from any version on, whenever they were committed", async () => {
      await store.createStrategies([createdOf("one", { ownerId: "tom" })]);
      const moveTo = (strategyId: string, version: number) =>
        commit(store, [
          commitOf(accountOf(strategyId), version, { key: version % 2 === 0 ? null : `k${version}` }),
        ]);
      for (const version of [2, 3, 4]) await moveTo("one", version);
      expect(await open("one")).toBe(true);
      await create(store, "two");
      for (const version of [5, 6]) {
        await moveTo("one", version);
        await moveTo("two", version - 3);
      }
      expect(await store.commit([commitOf(accountOf("one"), 6)])).toEqual(["OUTDATED"]);
      // Nothing of it depends on whether the strategy is open at the moment.
      await open("one", false);
      await moveTo("one", 7);
      expect(await copying.listEntriesAfter("one", 0, 99)).toEqual(await store.listEntries("one"));
      const versionsAfter = async (version: number, limit: number) =>
        (await copying.listEntriesAfter("one", version, limit)).map((entry) => entry.version);
      expect([await versionsAfter(3, 2), await versionsAfter(5, 9), await versionsAfter(7, 9)]).toEqual([
        [4, 5],
        [6, 7],
        [],
      ]);
      expect(await copying.listEntriesAfter("two", 0, 9)).toEqual([]);
    });

    test("a claim keeps others off until it ends, is renewed, and is given up", async () => {
      await openToCopiers(store, "a", "b");
      expect(await claim(store, { holder: "one", now: 0, until: 10 })).toEqual(["a", "b"]);
      expect(await claim(store, { holder: "two", now: 9, until: 19 })).toEqual([]);
      expect(await claim(store, { holder: "one", now: 9, until: 20 })).toEqual(["a", "b"]);
      expect(await claim(store, { holder: "two", now: 19, until: 29 })).toEqual([]);
      expect(await copying.listClaimed("two")).toEqual([]);
      expect(await claim(store, { holder: "two", now: 20, until: 30 })).toEqual(["a", "b"]);
      expect(await copying.listClaimed("one")).toEqual([]);
      // It is too late to renew what another has.
      expect(await claim(store, { holder: "one", now: 21, until: 31 })).toEqual([]);
      await copying.releaseLeads("one");
      expect(await copying.listClaimed("two")).toHaveLength(2);
      await copying.releaseLeads("two");
      expect(await claim(store, { holder: "one", now: 21, until: 31 })).toEqual(["a", "b"]);
    });

    test("a single server takes over what any other had", async () => {
      await openToCopiers(store, "a");
      await claim(store, { holder: "dead", now: 0, until: 1_000_000 });
      expect(await claim(store, { holder: "alive", now: 1, until: 2, isAlone: true })).toEqual(["a"]);
      expect(await copying.listClaimed("dead")).toEqual([]);
    });

    test("a lead of a closed strategy is claimed as long as a live copy follows it", async () => {
      await openToCopiers(store, "a", "b", "c");
      const [copyId = ""] = await follow(store, "b", "ann");
      expect(await claim(store)).toEqual(["a", "b", "c"]);
      await close("a");
      await close("b");
      expect(await copying.listClaimed(HOLDER)).toMatchObject([
        { strategyId: "a", type: "SPOT", status: "CLOSED", version: 2, revision: 1 },
        { strategyId: "b", type: "SPOT", status: "CLOSED", version: 2, revision: 2 },
        { strategyId: "c", type: "SPOT", status: "LIVE", version: 1, revision: 1 },
      ]);
      expect([await copying.revisionOfLead("b"), await copying.revisionOfLead("ghost")]).toEqual([2, 0]);
      expect(await claim(store)).toEqual(["b", "c"]);
      await leave(store, copyId);
      expect(await claim(store)).toEqual(["c"]);
      expect(await claim(store, { holder: "another", isAlone: true })).toEqual(["c"]);
      expect(await copying.listClaimed(HOLDER)).toEqual([]);
    });

    test("is moved on by its holder alone, from where it stands, once", async () => {
      await openToCopiers(store, "one", "two");
      await claim(store);
      const account = accountOf("one", "CLOSING");
      account.openOrders.set(7, orderOf(7));
      account.openOrders.set(3, orderOf(3));
      const lead = { strategyId: "one", type: "SPOT", account, version: 5, seq: 2 } as const;
      const advance = {
        ...lead,
        holder: HOLDER,
        fromVersion: 0,
        actions: [actionOf(1, 2), actionOf(2, 5)],
      };
      expect(await copying.advanceLead({ ...advance, holder: "another" })).toBe(false);
      expect(await copying.advanceLead({ ...advance, fromVersion: 1 })).toBe(false);
      expect(await copying.advanceLead({ ...advance, strategyId: "ghost" })).toBe(false);
      expect(await copying.findLead("one")).toMatchObject({ account: null, version: 0, seq: 0 });
      expect(await copying.listActions("one", { afterSeq: 0, limit: 9 })).toEqual([]);
      expect(await copying.advanceLead(advance)).toBe(true);
      // As after a crash whose outcome nobody knows.
      expect(await copying.advanceLead(advance)).toBe(false);
      const found = await copying.findLead("one");
      expect(found).toEqual(lead);
      expect([...(found?.account?.openOrders.keys() ?? [])]).toEqual([7, 3]);
      expect(await copying.listActions("one", { afterSeq: 0, limit: 9 })).toEqual(advance.actions);
      expect(await copying.listActions("two", { afterSeq: 0, limit: 9 })).toEqual([]);
      // An entry that did nothing that concerns copies.
      const next = { ...advance, account: accountOf("one"), fromVersion: 5, version: 6, actions: [] };
      expect(await copying.advanceLead(next)).toBe(true);
      expect(await copying.findLead("one")).toEqual({ ...lead, account: accountOf("one"), version: 6 });
    });

    test("the account of a lead of perpetual contracts is kept with all that it has", async () => {
      const account = futuresAccountOf("one");
      await store.createStrategies([createdOf("one", { first: commitOf(account, 1), ownerId: "tom" })]);
      await open("one");
      await claim(store);
      const lead = { strategyId: "one", type: "FUTURES", account, version: 1, seq: 0 } as const;
      await copying.advanceLead({ ...lead, holder: HOLDER, fromVersion: 0, actions: [] });
      expect(await copying.findLead("one")).toEqual(lead);
    });

    test("its actions are listed oldest first from a number on, or newest first of some kinds", async () => {
      await openToCopiers(store, "one");
      await claim(store);
      const actions = [...INTENTS, placementOf(99)].map((intent, index) =>
        actionOf(index + 1, index + 1, intent),
      );
      await copying.advanceLead(advanceOf("one", [0, 50], actions));
      expect(await copying.listActions("one", { afterSeq: 0, limit: 99 })).toEqual(actions);
      expect(await copying.listActions("one", { afterSeq: 2, limit: 3 })).toEqual(actions.slice(2, 5));
      expect(await copying.listRecentActions("one", { limit: 2 })).toEqual(actions.slice(-2).toReversed());
      const placed = await copying.listRecentActions("one", { kinds: ["PLACE", "CLOSE"], limit: 99 });
      expect(placed.map(({ kind }) => kind)).toEqual(["PLACE", "CLOSE", "PLACE"]);
      expect(await copying.listRecentActions("one", { kinds: ["PLACE"], limit: 1 })).toEqual(
        actions.slice(-1),
      );
      expect(await copying.listRecentActions("ghost", { limit: 9 })).toEqual([]);
    });

    test("many actions are added at once, in the order of their numbers", async () => {
      await openToCopiers(store, "one");
      await claim(store);
      const actions = upTo(500).map((seq) => actionOf(seq, seq));
      expect(await copying.advanceLead(advanceOf("one", [0, 500], actions))).toBe(true);
      const listed = await copying.listActions("one", { afterSeq: 0, limit: 1_000 });
      expect(listed.map(({ seq }) => seq)).toEqual(upTo(500));
    });
  });
}

const FILLED: LeadFilled = { quantity: decimal("0.5"), price: decimal("0.00000001") };
const OF_ORDER = { symbol: "BTCUSDT", orderId: 4, collectiveId: "collective-4" };
const OF_LEG = { symbol: "BTCUSDT", legId: 5, collectiveId: "collective-5" };
/** One of each kind, with something in every part that there need not be. */
const INTENTS: readonly OrderIntent[] = [
  { ...placementOf(1), leverage: 125, reduceOnly: true, filled: FILLED } as OrderIntent,
  { kind: "CANCEL", ...OF_ORDER, because: "EXPIRED" },
  { kind: "FILL", ...OF_ORDER, side: "SELL", filled: FILLED, empties: true },
  { kind: "PLACE_LEG", ...OF_LEG, side: "SELL", legType: "STOP_MARKET", triggerPrice: decimal("90.5") },
  { kind: "CANCEL_LEG", ...OF_LEG },
  { kind: "FIRE_LEG", ...OF_LEG, side: "SELL", filled: FILLED },
  { kind: "LIQUIDATE", ...OF_ORDER, side: "BUY", filled: FILLED },
  { kind: "SET_LEVERAGE", symbol: "BTCUSDT", leverage: 20 },
  { kind: "CLOSE" },
];
