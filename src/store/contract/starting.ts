// A process that starts finds what was left to do: what it has missed of the market, strategies that are
// closing, orders that wait.
import { describe, expect, test } from "vitest";
import { emptyAccount } from "../../domain/account.ts";
import type { Order } from "../../domain/order.ts";
import { decimal, type Quantity, ZERO } from "../../money/decimal.ts";
import type { Heard, QueueNote } from "../ports/trading.ts";
import type { Store } from "../store.ts";
import { futuresAccountOf } from "./futures-records.ts";
import { accountOf, commitOf, createdOf, HUGE, orderOf, TINY } from "./records.ts";
import { commit, create, exposedOf, type Opened } from "./store-under-test.ts";

export function startingCases(opened: Opened): void {
  describe("what a process that starts looks for", () => {
    const { store } = opened;

    const heardBy = async (from: Store) =>
      Object.fromEntries((await from.listHeard("SPOT")).map(({ symbol, at }) => [symbol, at]));
    const spot = (symbol: string, at: number): Heard => ({ type: "SPOT", symbol, at });

    test("when each symbol was last heard of, as it was noted last", async () => {
      expect(await store.listHeard("SPOT")).toEqual([]);
      await store.noteHeard([]);
      await store.noteHeard([spot("BTCUSDT", 1_795_228_304_525), spot("ETHUSDT", 1_000)]);
      await store.noteHeard([spot("ETHUSDT", 2_000)]);
      // A gap that could not be filled is noted by its beginning, which may lie before what was noted.
      await store.noteHeard([spot("BTCUSDT", 500)]);
      const noted = { BTCUSDT: 500, ETHUSDT: 2_000 };
      expect(await heardBy(store)).toEqual(noted);
      const other = await opened.reopen();
      expect(await heardBy(other)).toEqual(noted);
      await other.noteHeard([spot("XRPUSDT", 3_000)]);
      expect(await heardBy(store)).toEqual({ ...noted, XRPUSDT: 3_000 });
    });

    test("a symbol's notes of each type and of its funding, none of which is another's", async () => {
      expect(await store.listFundingNoted()).toEqual([]);
      const perpetual: Heard = { type: "FUTURES", symbol: "BTCUSDT", at: 2_000 };
      await store.noteHeard([perpetual, spot("BTCUSDT", 1_000)]);
      await store.noteFunding("BTCUSDT", 1_795_228_304_525);
      await store.noteFunding("ETHUSDT", 4_000);
      await store.noteFunding("ETHUSDT", 3_000);
      const other = await opened.reopen();
      expect(await other.listHeard("SPOT")).toEqual([spot("BTCUSDT", 1_000)]);
      expect(await other.listHeard("FUTURES")).toEqual([perpetual]);
      const noted = await other.listFundingNoted();
      expect(noted.toSorted((one, two) => one.symbol.localeCompare(two.symbol))).toEqual([
        { symbol: "BTCUSDT", until: 1_795_228_304_525 },
        { symbol: "ETHUSDT", until: 3_000 },
      ]);
    });

    test("where orders were in their queues, as it was noted at the latest time", async () => {
      const note: QueueNote = {
        strategyId: "one",
        orderId: 7,
        symbol: "BTCUSDT",
        ahead: decimal(HUGE),
        tradedAtPrice: decimal(TINY),
        canceledAhead: ZERO,
        tradeId: 3_085_683_259,
        at: 1_795_228_304_525,
      };
      const unknown = { ...note, orderId: 10, ahead: null, tradeId: null };
      const others = { ...note, strategyId: "two" };
      await store.noteQueues([]);
      expect(await store.listQueueNotes(["one", "two"])).toEqual([]);
      await store.noteQueues([unknown, others, note]);
      const later = { ...note, ahead: ZERO, tradedAtPrice: decimal<Quantity>(HUGE), at: note.at + 1 };
      await store.noteQueues([later]);
      // Of a server that has lost the strategy's slot since.
      await store.noteQueues([note]);
      const other = await opened.reopen();
      expect(await other.listQueueNotes(["one"])).toEqual([later, unknown]);
      expect(await other.listQueueNotes([])).toEqual([]);
      const many = Array.from({ length: 70_000 }, (_, index) => `s${index}`);
      expect(await other.listQueueNotes([...many, "one"])).toEqual([later, unknown]);
      await other.forgetQueues([]);
      await other.forgetQueues([later, { strategyId: "two", orderId: 10 }]);
      expect(await store.listQueueNotes(["two", "one"])).toEqual([unknown, others]);
    });

    test("the accounts of a type that the market can reach, whole, in the order of their ids, and no others", async () => {
      const perpetuals = ["held", "flat", "before"].map((id) => {
        const account = futuresAccountOf(id);
        if (id !== "held") Object.assign(account, { positions: new Map(), openLegs: new Map() });
        if (id === "flat") account.heldBefore = new Map();
        return account;
      });
      await store.createStrategies(
        perpetuals.map((account) => createdOf(account.strategyId, { first: commitOf(account, 1) })),
      );
      await create(store, "b", "a", "none");
      const [b, a] = [accountOf("b"), accountOf("a")];
      await commit(store, [
        commitOf(b, 2, { orders: [orderOf(1), orderOf(2, { status: "FILLED" })] }),
        commitOf(a, 2, { orders: [orderOf(11), orderOf(3, { symbol: "ETHUSDT" })] }),
        commitOf(accountOf("none"), 2, { orders: [orderOf(1, { status: "FILLED" })] }),
      ]);
      expect(await store.listExposedAccounts("SPOT")).toEqual([a, b]);
      const [first] = await store.listExposedAccounts("SPOT");
      expect([...(first?.openOrders.keys() ?? [])]).toEqual([3, 11]);
      const [held, , before] = perpetuals;
      expect(await store.listExposedAccounts("FUTURES")).toEqual([before, held]);
      expect(await (await opened.reopen()).listExposedAccounts("FUTURES")).toEqual([before, held]);
    });

    test.each([
      ["a position", "positions"],
      ["a leg", "openLegs"],
      ["what was held before", "heldBefore"],
    ] as const)("an account that has %s alone, as long as it has it", async (_case, part) => {
      const full = futuresAccountOf("one");
      const account = emptyAccount("one", "FUTURES");
      await store.createStrategies([createdOf("one", { first: commitOf(account, 1) })]);
      expect(await exposedOf(store, "FUTURES")).toEqual([]);
      await commit(store, [commitOf({ ...account, [part]: full[part] }, 2)]);
      expect(await exposedOf(store, "FUTURES")).toEqual(["one"]);
      expect(await exposedOf(store, "SPOT")).toEqual([]);
      await commit(store, [commitOf(account, 3)]);
      expect(await exposedOf(store, "FUTURES")).toEqual([]);
    });

    test("leverages alone expose nobody", async () => {
      const account = emptyAccount("one", "FUTURES");
      account.leverages = new Map([["BTCUSDT", 5]]);
      await store.createStrategies([createdOf("one", { first: commitOf(account, 1) })]);
      expect(await exposedOf(store, "FUTURES")).toEqual([]);
    });

    test("the strategies that are closing, and no others", async () => {
      await create(store, "closing", "live", "closed", "done");
      await commit(store, [
        commitOf(accountOf("closing", "CLOSING"), 2),
        commitOf(accountOf("closed", "CLOSED"), 2),
        commitOf(accountOf("done", "CLOSING"), 2),
      ]);
      await commit(store, [commitOf(accountOf("done", "CLOSED"), 3)]);
      expect(await store.listClosingStrategies()).toEqual(["closing"]);
      expect(await (await opened.reopen()).listClosingStrategies()).toEqual(["closing"]);
      expect((await store.loadAccount("closed"))?.account.status).toBe("CLOSED");
      await commit(store, [commitOf(accountOf("closing", "CLOSED"), 3)]);
      expect(await store.listClosingStrategies()).toEqual([]);
    });

    test("orders that wait for their trigger, and those that work since then, as they are", async () => {
      await create(store, "one");
      const stop: Partial<Order> = { type: "STOP_LOSS_LIMIT", stopPrice: decimal(HUGE) };
      const waiting = orderOf(1, { ...stop, workingAt: null });
      const triggered = orderOf(2, { ...stop, workingAt: 1_795_228_304_525 });
      const ended = orderOf(3, { ...stop, status: "EXPIRED", reserved: ZERO, workingAt: 2_000 });
      const orders = [waiting, triggered, ended];
      await commit(store, [commitOf(accountOf("one"), 2, { orders })]);
      const [exposed] = await store.listExposedAccounts("SPOT");
      const loaded = (await store.loadAccount("one"))?.account;
      for (const account of [exposed, loaded]) {
        expect([...(account?.openOrders.values() ?? [])]).toEqual([waiting, triggered]);
      }
      expect(await store.listOrders("one", { symbol: "BTCUSDT", limit: 9 })).toEqual(orders);
    });

    test("nothing of an order that has expired or of one that was triggered and filled", async () => {
      await create(store, "one");
      const stop = orderOf(1, { type: "STOP_LOSS", stopPrice: decimal(TINY), workingAt: null });
      await commit(store, [commitOf(accountOf("one"), 2, { orders: [stop] })]);
      const expired = { ...stop, status: "EXPIRED", reserved: ZERO, workingAt: 2_000 } as const;
      await commit(store, [commitOf(accountOf("one"), 3, { orders: [expired] })]);
      expect(await exposedOf(store)).toEqual([]);
      expect(await store.findOrder("one", { orderId: 1 })).toEqual(expired);
    });
  });
}
