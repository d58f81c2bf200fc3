// A process that starts finds what was left to do: what it has missed of the market, strategies that are closing, orders
// that wait.
import { beforeEach, describe, expect, test } from "vitest";
import type { Order } from "../../domain/order.ts";
import { decimal, ZERO } from "../../money/decimal.ts";
import type { Store } from "../store.ts";
import { accountOf, commitOf, HUGE, orderOf, TINY } from "./records.ts";
import { commit, create, type Opened } from "./store-under-test.ts";

export function startingCases(opened: Opened): void {
  describe("what a process that starts looks for", () => {
    let store: Store;
    beforeEach(() => {
      store = opened().store;
    });

    const heardBy = async (from: Store) =>
      Object.fromEntries((await from.listHeard()).map(({ symbol, at }) => [symbol, at]));

    test("when each symbol was last heard of, as it was noted last", async () => {
      expect(await store.listHeard()).toEqual([]);
      await store.noteHeard([]);
      await store.noteHeard([
        { symbol: "BTCUSDT", at: 1_795_228_304_525 },
        { symbol: "ETHUSDT", at: 1_000 },
      ]);
      await store.noteHeard([{ symbol: "ETHUSDT", at: 2_000 }]);
      // A gap that could not be filled is noted by its beginning, which may lie before what was noted.
      await store.noteHeard([{ symbol: "BTCUSDT", at: 500 }]);
      const noted = { BTCUSDT: 500, ETHUSDT: 2_000 };
      expect(await heardBy(store)).toEqual(noted);
      const other = await opened().reopen();
      expect(await heardBy(other)).toEqual(noted);
      await other.noteHeard([{ symbol: "XRPUSDT", at: 3_000 }]);
      expect(await heardBy(store)).toEqual({ ...noted, XRPUSDT: 3_000 });
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
      expect(await (await opened().reopen()).listClosingStrategies()).toEqual(["closing"]);
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
      expect((await store.listAllOpenOrders()).map(({ order }) => order)).toEqual([waiting, triggered]);
      const { openOrders } = (await store.loadAccount("one"))?.account ?? {};
      expect([...(openOrders?.values() ?? [])]).toEqual([waiting, triggered]);
      expect(await store.listOrders("one", { symbol: "BTCUSDT", limit: 9 })).toEqual(orders);
    });

    test("nothing of an order that has expired or of one that was triggered and filled", async () => {
      await create(store, "one");
      const stop = orderOf(1, { type: "STOP_LOSS", stopPrice: decimal(TINY), workingAt: null });
      await commit(store, [commitOf(accountOf("one"), 2, { orders: [stop] })]);
      const expired = { ...stop, status: "EXPIRED", reserved: ZERO, workingAt: 2_000 } as const;
      await commit(store, [commitOf(accountOf("one"), 3, { orders: [expired] })]);
      expect(await store.listAllOpenOrders()).toEqual([]);
      expect(await store.findOrder("one", { orderId: 1 })).toEqual(expired);
    });
  });
}
