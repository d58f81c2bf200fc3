// A signal that is not settled is somebody's until his claim runs out, and one process's at a time.
import { beforeEach, describe, expect, test } from "vitest";
import type { Rejection } from "../../../domain/signal.ts";
import { accountOf, commitOf, orderOf, upTo } from "../records.ts";
import { commit, create, type Opened } from "../store-under-test.ts";
import { received, rejectedOf, settledOf, signalOf } from "./records.ts";

const SILENT: Rejection = { refusal: "MARKET_SILENT" };
const EXHAUSTED: Rejection = { refusal: "ORDERS_EXHAUSTED", limit: 50, interval: "10 SECOND" };
const CLAIMED = { claimedUntil: 1_000 };

export function pendingSignalCases(opened: Opened): void {
  describe("pending signals", () => {
    const { store } = opened;
    beforeEach(async () => {
      await create(store, "one", "two");
    });

    const claim = async (now: number, until: number, limit = 100) =>
      (await store.claimSignals({ now, until, limit })).map(({ signalId }) => signalId);

    test("are claimed when the claim of who received them has run out, and not before", async () => {
      await store.receiveSignals([signalOf("a")], { claimedUntil: 1_000 });
      expect(await claim(999, 2_000)).toEqual([]);
      expect(await store.claimSignals({ now: 1_000, until: 2_000, limit: 9 })).toEqual([
        received(signalOf("a")),
      ]);
      expect(await claim(1_999, 3_000)).toEqual([]);
      expect(await claim(2_000, 3_000)).toEqual(["a"]);
    });

    test("are counted until they are settled, and the longest waiting is known", async () => {
      expect(await store.countPendingSignals()).toEqual({ count: 0, oldestReceivedAt: null });
      const late = { ...signalOf("late", { strategyId: "two" }), receivedAt: signalOf("a").receivedAt + 5 };
      await store.receiveSignals([late], CLAIMED);
      await store.receiveSignals([signalOf("a")], CLAIMED);
      await store.postponeSignal("a", { reason: SILENT, dueAt: 1_500 });
      const { receivedAt } = signalOf("a");
      expect(await store.countPendingSignals()).toEqual({ count: 2, oldestReceivedAt: receivedAt });
      await commit(store, [commitOf(accountOf("one"), 2, { signals: [settledOf("a", orderOf(1))] })]);
      expect(await store.countPendingSignals()).toEqual({ count: 1, oldestReceivedAt: receivedAt + 5 });
    });

    test("of every strategy are claimed, longest due first, so many at a time", async () => {
      await store.receiveSignals([signalOf("late")], { claimedUntil: 3_000 });
      await store.receiveSignals([signalOf("early", { strategyId: "two" })], { claimedUntil: 1_000 });
      await store.receiveSignals([signalOf("between"), signalOf("after")], { claimedUntil: 2_000 });
      expect(await claim(9_000, 20_000, 3)).toEqual(["early", "between", "after"]);
      expect(await claim(9_000, 20_000, 3)).toEqual(["late"]);
      expect(await claim(9_000, 20_000, 3)).toEqual([]);
    });

    test("that are put off are FAILED, with the reason and how often they were tried, and come when they are due", async () => {
      await store.receiveSignals([signalOf("a")], { claimedUntil: 1_000 });
      await store.postponeSignal("a", { reason: SILENT, dueAt: 1_500 });
      await store.postponeSignal("a", { reason: EXHAUSTED, dueAt: 2_500 });
      const failed = { ...signalOf("a"), state: { status: "FAILED", reason: EXHAUSTED, attempts: 2 } };
      expect(await store.findSignal("one", { signalId: "a" })).toEqual(failed);
      expect(await claim(2_499, 9_000)).toEqual([]);
      expect(await store.claimSignals({ now: 2_500, until: 9_000, limit: 9 })).toEqual([failed]);
    });

    test("that are settled are claimed no more", async () => {
      await store.receiveSignals([signalOf("a"), signalOf("b"), signalOf("c")], { claimedUntil: 1_000 });
      await store.postponeSignal("b", { reason: SILENT, dueAt: 1_000 });
      const signals = [settledOf("a", orderOf(1)), rejectedOf("b")];
      await commit(store, [commitOf(accountOf("one"), 2, { signals })]);
      expect(await claim(9_000, 10_000)).toEqual(["c"]);
    });

    test("can be settled while they are claimed", async () => {
      await store.receiveSignals([signalOf("a")], { claimedUntil: 1_000 });
      expect(await claim(1_000, 2_000)).toEqual(["a"]);
      await commit(store, [commitOf(accountOf("one"), 2, { signals: [rejectedOf("a")] })]);
      expect(await claim(9_000, 10_000)).toEqual([]);
    });

    test("are given to one of two stores, and those of a process that died to the other", async () => {
      const other = await opened.reopen();
      const signals = upTo(300).map((id) => signalOf(`s${id}`));
      await store.receiveSignals(signals, { claimedUntil: 1_000 });
      const claimed: string[] = [];
      for (const _round of upTo(6)) {
        const both = await Promise.all(
          [store, other, store, other].map((each) =>
            each.claimSignals({ now: 1_000, until: 2_000, limit: 30 }),
          ),
        );
        claimed.push(...both.flat().map(({ signalId }) => signalId));
      }
      expect(claimed.sort()).toEqual(signals.map(({ signalId }) => signalId).sort());
      // The store that claimed them does not return.
      await store.close();
      expect((await other.claimSignals({ now: 2_000, until: 3_000, limit: 999 })).length).toBe(300);
    });

    test("of one key at two stores at once are one signal, every time", async () => {
      const other = await opened.reopen();
      for (const round of upTo(10)) {
        const keys = upTo(100).map((key) => `${round}-${key}`);
        // In opposite order, so that each might wait for the other.
        const [here, there] = await Promise.all([
          store.receiveSignals(
            keys.map((key) => signalOf(`here-${key}`, { idempotencyKey: key })),
            CLAIMED,
          ),
          other.receiveSignals(
            keys.toReversed().map((key) => signalOf(`there-${key}`, { idempotencyKey: key })),
            CLAIMED,
          ),
        ]);
        const answers = [...here, ...there];
        expect(answers.filter(({ isNew }) => isNew)).toHaveLength(keys.length);
        expect(new Set(answers.map(({ signal }) => signal?.signalId)).size).toBe(keys.length);
      }
      expect(await store.listSignals("one", { limit: 9_999 })).toHaveLength(1_000);
    });

    test("that are claimed and settled at once are settled once, and claimed no more", async () => {
      const other = await opened.reopen();
      const signals = upTo(40).map((id) => signalOf(`s${id}`));
      await store.receiveSignals(signals, { claimedUntil: 1_000 });
      await Promise.all([
        ...signals.map((_, index) =>
          other.claimSignals({ now: 1_000 + index, until: 1_001 + index, limit: 9 }),
        ),
        (async () => {
          for (const [index, { signalId }] of signals.entries()) {
            await commit(store, [commitOf(accountOf("one"), index + 2, { signals: [rejectedOf(signalId)] })]);
          }
        })(),
        ...signals.map(({ signalId }) => other.postponeSignal(signalId, { reason: SILENT, dueAt: 1_000 })),
      ]);
      const states = (await other.listSignals("one", { limit: 99 })).map(({ state }) => state.status);
      expect(states).toEqual(signals.map(() => "REJECTED"));
      expect(await other.claimSignals({ now: 9_000, until: 10_000, limit: 99 })).toEqual([]);
    });
  });
}
