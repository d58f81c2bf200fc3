// A store that is closed carries nothing out any more, and has lost nothing when it is opened again.

import { expect, test } from "vitest";
import { StoreFailure } from "../store.ts";
import { eventsOfEveryKind } from "./events-of-every-kind.ts";
import { incomeOf, legOf } from "./futures-records.ts";
import { accountOf, commitOf, HUGE, hold, orderOf, tradeOf } from "./records.ts";
import { commit, create, everythingOf, type Opened, versionsOf } from "./store-under-test.ts";

export function closingCases(opened: Opened): void {
  const { store } = opened;

  test("a store that is closed and opened again reads back everything", async () => {
    const { key } = await create(store, "one", "two");
    const account = accountOf("one");
    hold(account, "USDT", { free: HUGE, seed: `-${HUGE}` });
    const orders = [orderOf(1, { status: "FILLED" }), orderOf(2)];
    const events = eventsOfEveryKind();
    const parts = { orders, trades: [tradeOf(1, 1)], legs: [legOf(3)], incomes: [incomeOf(1)] };
    await commit(store, [commitOf(account, 2, { key: "k", events, ...parts })]);
    await store.rememberMasterKey(1, "check");
    const before = await everythingOf(store, "one");
    await store.close();

    const again = await opened.reopen();
    expect(await everythingOf(again, "one")).toEqual(before);
    expect((await again.findEntry("one", "k"))?.events).toEqual(events);
    expect((await again.findKey(key.apiKey))?.key).toEqual(key);
    expect(await again.countStrategies()).toBe(2);
    expect(await again.rememberMasterKey(1, "other")).toBe("check");
    expect(await again.commit([commitOf(account, 3)])).toEqual(["COMMITTED"]);
  });

  test("a closed store carries out no commit", async () => {
    await create(store, "one");
    await store.close();
    await expect(store.commit([commitOf(accountOf("one"), 2)])).rejects.toThrow(StoreFailure);
    const again = await opened.reopen();
    expect(await versionsOf(again, ["one"])).toEqual([1]);
  });
}
