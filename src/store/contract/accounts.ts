// A strategy's account comes back as it was committed, with its open orders, to the last digit.
import { describe, expect, test } from "vitest";
import { STANDARD } from "../../domain/fill-profile.ts";
import { futuresAccountOf } from "./futures-records.ts";
import { accountOf, commitOf, HUGE, hold, orderOf, TINY, upTo } from "./records.ts";
import { commit, create, type Opened } from "./store-under-test.ts";
import { PARTLY_FILLED, RECEIPTED, strictAccountOf } from "./strict-records.ts";

export function accountCases(opened: Opened): void {
  describe("accounts", () => {
    const { store } = opened;

    test("a created strategy loads as it was created, at version 1", async () => {
      const { first } = await create(store, "one");
      expect(await store.loadAccount("one")).toEqual({ account: first.account, version: 1 });
    });

    test("the versions of many strategies are read at once, of those that exist", async () => {
      const ids = upTo(5_010).map((id) => `s${id}`);
      await create(store, ...ids);
      await commit(store, [commitOf(accountOf("s7"), 2), commitOf(accountOf("s5007"), 2)]);
      await commit(store, [commitOf(accountOf("s7"), 3)]);
      const versions = await store.versionsOf([...ids, "none"]);
      expect(versions).toEqual(new Map(ids.map((id) => [id, { s7: 3, s5007: 2 }[id] ?? 1])));
      expect(await store.versionsOf(["none", "s7"])).toEqual(new Map([["s7", 3]]));
      expect(await store.versionsOf([])).toEqual(new Map());
    });

    test("a strategy that does not exist loads as null", async () => {
      await create(store, "one");
      expect(await store.loadAccount("two")).toBeNull();
    });

    test("balances of twenty integer digits and eight decimals come back to the last digit", async () => {
      await create(store, "one");
      const account = accountOf("one");
      hold(account, "USDT", { free: HUGE, locked: TINY, seed: `-${HUGE}`, market: `-${TINY}`, fees: "0" });
      hold(account, "PEPE", { free: "92233720368547758.08000001", market: "-92233720368547758.08000001" });
      await commit(store, [commitOf(account, 2)]);
      const loaded = await store.loadAccount("one");
      expect(loaded?.account.balances).toEqual(account.balances);
    });

    test("status, numbering and time of the last change come back", async () => {
      await create(store, "one");
      const account = accountOf("one");
      account.status = "CLOSING";
      account.nextOrderId = 4_000_000_001;
      account.nextTradeId = 9_007_199_254_740_991;
      account.updatedAt = 1_795_228_304_525;
      await commit(store, [commitOf(account, 2)]);
      expect(await store.loadAccount("one")).toEqual({ account, version: 2 });
    });

    test("under strict the profile, own consumption and partly filled orders come back", async () => {
      await create(store, "one", "two");
      const account = strictAccountOf("one");
      const change = commitOf(account, 2, { orders: [PARTLY_FILLED], trades: RECEIPTED });
      await commit(store, [change, commitOf(accountOf("two"), 2)]);
      const loaded = await store.loadAccount("one");
      expect(loaded).toEqual({ account, version: 2 });
      expect(loaded?.account.openOrders).toEqual(new Map([[7, PARTLY_FILLED]]));
      expect([...(loaded?.account.consumed.keys() ?? [])]).toEqual(["ETHUSDT", "BTCUSDT"]);
      const trades = await store.listTrades("one", { symbol: "BTCUSDT", orderId: 7, limit: 10 });
      expect(trades).toEqual(RECEIPTED);
      // A strategy that was stored without one has the standard profile.
      expect((await store.loadAccount("two"))?.account.profile).toEqual(STANDARD.SPOT);
    });

    test("all that only futures have comes back to the last digit, in its order", async () => {
      await create(store, "one");
      const account = futuresAccountOf("one");
      await commit(store, [commitOf(account, 2)]);
      const { account: loaded } = (await store.loadAccount("one")) ?? {};
      // A strategy keeps its type, whatever a commit says.
      expect(loaded).toEqual({ ...account, type: "SPOT", profile: STANDARD.SPOT });
      for (const part of ["positions", "openLegs", "leverages", "heldBefore", "fundedUntil"] as const) {
        expect([...(loaded?.[part].keys() ?? [])]).toEqual([...account[part].keys()]);
      }
    });

    test("an account comes with its open orders, in the order of placement, and with no others", async () => {
      await create(store, "one");
      const account = accountOf("one");
      const orders = [
        orderOf(10),
        orderOf(9, { status: "FILLED" }),
        orderOf(2, { status: "PARTIALLY_FILLED" }),
        orderOf(1, { status: "CANCELED" }),
        orderOf(3),
      ];
      await commit(store, [commitOf(account, 2, { orders })]);
      const loaded = await store.loadAccount("one");
      expect([...(loaded?.account.openOrders ?? [])]).toEqual([
        [2, orders[2]],
        [3, orders[4]],
        [10, orders[0]],
      ]);
    });

    test("a change of a loaded account changes nothing in the store", async () => {
      const { first } = await create(store, "one");
      const loaded = await store.loadAccount("one");
      loaded?.account.balances.clear();
      expect((await store.loadAccount("one"))?.account).toEqual(first.account);
    });
  });
}
