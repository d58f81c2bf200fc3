// A signal is settled only if the commit that settles it takes effect, and then never changes.
import { beforeEach, describe, expect, test } from "vitest";
import { decimal } from "../../../money/decimal.ts";
import { StoreFailure } from "../../store.ts";
import { accountOf, commitOf, HUGE, orderOf, TINY, tradeOf, upTo } from "../records.ts";
import { commit, create, type Opened } from "../store-under-test.ts";
import { received, rejectedOf, settledOf, signalOf } from "./records.ts";

const CLAIMED = { claimedUntil: 1_000 };

export function settledSignalCases(opened: Opened): void {
  describe("settled signals", () => {
    const { store } = opened;
    beforeEach(async () => {
      await create(store, "one", "two");
      await store.receiveSignals([signalOf("a"), signalOf("b"), signalOf("c")], CLAIMED);
    });

    const stateOf = async (signalId: string) => (await store.findSignal("one", { signalId }))?.state;

    test("have their order, or the reason, from the commit on that says it", async () => {
      const order = orderOf(1, { quantity: decimal(HUGE), reserved: decimal(TINY), status: "FILLED" });
      const executed = settledOf("a", order);
      const rejected = rejectedOf("b");
      await commit(store, [
        commitOf(accountOf("one"), 2, { key: "signal:a", orders: [order], signals: [executed] }),
      ]);
      await commit(store, [commitOf(accountOf("one"), 3, { key: "signal:b", signals: [rejected] })]);
      expect(await store.listSignals("one", { limit: 9 })).toEqual([
        received(signalOf("c")),
        { ...signalOf("b"), state: rejected.state },
        { ...signalOf("a"), state: executed.state },
      ]);
      expect(await stateOf("a")).toEqual(executed.state);
      expect((await store.findSignal("one", { idempotencyKey: "key-b" }))?.state).toEqual(rejected.state);
    });

    test("stay as they are: neither another commit nor a delay changes one", async () => {
      const settled = rejectedOf("a");
      await commit(store, [commitOf(accountOf("one"), 2, { signals: [settled] })]);
      await commit(store, [commitOf(accountOf("one"), 3, { signals: [settledOf("a", orderOf(1))] })]);
      await store.postponeSignal("a", { reason: { refusal: "MARKET_SILENT" }, dueAt: 0 });
      expect(await stateOf("a")).toEqual(settled.state);
    });

    test.each([
      ["behind the row", 1, "k"],
      ["ahead of the row", 7, "k"],
      ["on a key that was used", 3, "used"],
    ])("are not, by a commit that is outdated: %s", async (_case, version, key) => {
      await commit(store, [commitOf(accountOf("one"), 2, { key: "used" })]);
      const outdated = commitOf(accountOf("one"), version, { key, signals: [rejectedOf("a")] });
      const other = commitOf(accountOf("two"), 2);
      expect(await store.commit([outdated, other])).toEqual(["OUTDATED", "COMMITTED"]);
      expect(await stateOf("a")).toEqual({ status: "RECEIVED" });
    });

    test("are not, by a group of which a part cannot be stored", async () => {
      const broken = { orders: [orderOf(1, { clientOrderId: "x" }), orderOf(2, { clientOrderId: "x" })] };
      const group = [
        commitOf(accountOf("one"), 2, { signals: [rejectedOf("a")] }),
        commitOf(accountOf("two"), 2, broken),
      ];
      await expect(store.commit(group)).rejects.toThrow(StoreFailure);
      expect(await stateOf("a")).toEqual({ status: "RECEIVED" });
    });

    test("are the strategy's own: a commit of another one settles nothing of it", async () => {
      await commit(store, [commitOf(accountOf("two"), 2, { signals: [rejectedOf("a")] })]);
      expect(await stateOf("a")).toEqual({ status: "RECEIVED" });
    });

    test("of many strategies are settled by one group, several of one strategy too", async () => {
      const ids = upTo(200).map((id) => `s${id}`);
      await create(store, ...ids);
      const signals = ids.map((id) => signalOf(`of-${id}`, { strategyId: id }));
      await store.receiveSignals(signals, CLAIMED);
      await commit(store, [
        ...ids.map((id) => {
          const order = orderOf(1, { clientOrderId: `of-${id}`, status: "FILLED" });
          const trades = [tradeOf(1, 1)];
          return commitOf(accountOf(id), 2, {
            orders: [order],
            trades,
            signals: [settledOf(`of-${id}`, order)],
          });
        }),
        commitOf(accountOf("one"), 2, { signals: [rejectedOf("a"), rejectedOf("b")] }),
      ]);
      const states = await Promise.all(
        ids.map(async (id) => (await store.findSignal(id, { signalId: `of-${id}` }))?.state.status),
      );
      expect(states).toEqual(ids.map(() => "EXECUTED"));
      expect([await stateOf("a"), await stateOf("b")]).toMatchObject([
        { status: "REJECTED" },
        { status: "REJECTED" },
      ]);
      expect(await stateOf("c")).toEqual({ status: "RECEIVED" });
    });
  });
}
