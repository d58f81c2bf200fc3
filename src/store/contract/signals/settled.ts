// A signal is settled only if the commit that settles it takes effect, and then never changes. A commit that
// also records it takes effect only if its key and its signature are new.
import { beforeEach, describe, expect, test } from "vitest";
import type { NewSignal } from "../../../domain/signal.ts";
import { decimal } from "../../../money/decimal.ts";
import { StoreFailure } from "../../store.ts";
import { accountOf, commitOf, HUGE, orderOf, TINY, tradeOf, upTo } from "../records.ts";
import { commit, create, type Opened } from "../store-under-test.ts";
import { received, recordedOf, rejectedOf, settledOf, signalOf } from "./records.ts";

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

  describe("signals that a commit records and settles", () => {
    const { store } = opened;
    beforeEach(async () => {
      await create(store, "one", "two");
    });

    const signed = (signature: string) => ({ signed: { signature, expiresAt: 5_000 } });
    const commitWith = (signal: NewSignal, version = 2, key = `signal:${signal.signalId}`) => {
      const order = orderOf(version - 1, { clientOrderId: signal.signalId });
      const parts = { key, orders: [order], signals: [recordedOf(signal, order)] };
      return commitOf(accountOf(signal.strategyId), version, parts);
    };
    const versionOf = async (strategyId: string) => (await store.loadAccount(strategyId))?.version;
    const ordersOf = async (strategyId: string) =>
      (await store.listOrders(strategyId, { symbol: "BTCUSDT", limit: 999 })).map(
        (order) => order.clientOrderId,
      );
    const idsOf = async (strategyId: string) =>
      (await store.listSignals(strategyId, { limit: 999 })).map(({ signalId }) => signalId);

    test("are found as they were given and settled, newest first, and nobody claims them", async () => {
      const [one, two, three] = [signalOf("a"), signalOf("b", signed("first")), signalOf("c")] as const;
      await commit(store, [commitWith(one)]);
      await store.receiveSignals([three], CLAIMED);
      const rejected = { ...rejectedOf("b"), received: two };
      await commit(store, [commitOf(accountOf("one"), 3, { key: "signal:b", signals: [rejected] })]);
      const { signed: _, ...unsigned } = two;
      expect(await store.listSignals("one", { limit: 9 })).toEqual([
        { ...unsigned, state: rejected.state },
        received(three),
        { ...one, state: recordedOf(one).state },
      ]);
      expect(await store.findSignal("one", { idempotencyKey: "key-a" })).toMatchObject({ signalId: "a" });
      expect(await store.countPendingSignals()).toMatchObject({ count: 1 });
      const claimed = await store.claimSignals({ now: 1_000, until: 2_000, limit: 9 });
      expect(claimed.map(({ signalId }) => signalId)).toEqual(["c"]);
    });

    test("are received no second time: their keys answer with them, and their signatures are used", async () => {
      const signal = signalOf("a", signed("first"));
      await commit(store, [commitWith(signal)]);
      const again = signalOf("b", { idempotencyKey: "key-a", ...signed("second") });
      const stolen = [signalOf("c", signed("first")), signalOf("d", signed("second"))];
      const answers = await store.receiveSignals([again, ...stolen], CLAIMED);
      expect(answers.map((each) => each.signal?.signalId ?? null)).toEqual(["a", null, null]);
      expect(answers[0]).toMatchObject({ isNew: false, signal: { state: { status: "EXECUTED" } } });
    });

    test.each<[string, NewSignal]>([
      ["the key of one that was received", signalOf("b", { idempotencyKey: "key-a" })],
      ["the signature of one that was received", signalOf("b", signed("first"))],
    ])("are not, and their commit is outdated, under %s", async (_case, signal) => {
      await store.receiveSignals([signalOf("a", signed("first"))], CLAIMED);
      const [before] = await store.listSignals("one", { limit: 9 });
      const beside = commitWith(signalOf("c", { strategyId: "two" }));
      expect(await store.commit([commitWith(signal), beside])).toEqual(["OUTDATED", "COMMITTED"]);
      expect(await store.listSignals("one", { limit: 9 })).toEqual([before]);
      expect([await versionOf("one"), await ordersOf("one")]).toEqual([1, []]);
      expect([await versionOf("two"), await idsOf("two")]).toEqual([2, ["c"]]);
      // The same commit may settle the one that is there.
      await commit(store, [commitOf(accountOf("one"), 2, { signals: [rejectedOf("a")] })]);
    });

    test.each([
      ["behind the row", 1, "k"],
      ["ahead of the row", 7, "k"],
      ["on a key that was used", 3, "used"],
    ])("are not, by a commit that is outdated: %s", async (_case, version, key) => {
      await commit(store, [commitOf(accountOf("one"), 2, { key: "used" })]);
      const signal = signalOf("a", signed("first"));
      expect(await store.commit([commitWith(signal, version, key)])).toEqual(["OUTDATED"]);
      expect(await idsOf("one")).toEqual([]);
      expect(await store.receiveSignals([signal], CLAIMED)).toMatchObject([{ isNew: true }]);
    });

    test("of one signature in a group are one", async () => {
      const group = ["one", "two"].map((strategyId) =>
        commitWith(signalOf(strategyId, { strategyId, ...signed("first") })),
      );
      expect((await store.commit(group)).toSorted()).toEqual(["COMMITTED", "OUTDATED"]);
      expect([...(await idsOf("one")), ...(await idsOf("two"))]).toHaveLength(1);
      expect([...(await ordersOf("one")), ...(await ordersOf("two"))]).toHaveLength(1);
    });

    test("under keys that another store receives or commits at the same moment are one each, with one order", async () => {
      const other = await opened.reopen();
      const ids = upTo(20).map((id) => `s${id}`);
      await create(store, ...ids);
      let version = 1;
      for (const round of upTo(6)) {
        const signalsAt = (place: string) =>
          ids.map((strategyId) =>
            signalOf(`${place}-${round}-${strategyId}`, {
              ...{ strategyId, idempotencyKey: `${round}` },
              ...{ signed: { signature: `${place}-${round}-${strategyId}`, expiresAt: 5_000 } },
            }),
          );
        const versions = new Map(
          await Promise.all(ids.map(async (id) => [id, (await versionOf(id)) ?? 0] as const)),
        );
        const groupAt = (place: string) =>
          signalsAt(place).map((signal) => commitWith(signal, (versions.get(signal.strategyId) ?? 0) + 1));
        const [here, there, answers] = await Promise.all([
          store.commit(groupAt("here")),
          other.commit(groupAt("there").toReversed()),
          (round % 2 === 0 ? store : other).receiveSignals(signalsAt("received").toReversed(), CLAIMED),
        ]);
        const winners = [here, there.toReversed(), answers.toReversed().map(({ isNew }) => isNew)];
        for (const index of ids.keys()) {
          const won = winners.filter((each) => each[index] === "COMMITTED" || each[index] === true);
          expect(won).toHaveLength(1);
        }
        version += 1;
      }
      for (const id of ids) {
        const signals = await store.listSignals(id, { limit: 99 });
        expect(signals).toHaveLength(version - 1);
        const executed = signals
          .filter(({ state }) => state.status === "EXECUTED")
          .map(({ signalId }) => signalId);
        expect((await ordersOf(id)).toSorted()).toEqual(executed.toSorted());
      }
    });

    test.each([
      ["quotes", `'";--\\`],
      ["other scripts", "ライアーバード 🐦 äöü"],
      ["half of a pair", "\ud83d"],
    ])("keep a key of %s, and the body as it was written", async (_what, idempotencyKey) => {
      const signal = signalOf("a", {
        idempotencyKey,
        body: `{ "note":"'\\"ライアー🐦",\n\t"quantity":0.10 }`,
      });
      await commit(store, [commitWith(signal)]);
      expect(await store.findSignal("one", { idempotencyKey })).toEqual({
        ...signal,
        state: recordedOf(signal).state,
      });
    });
  });
}
