// What orders would have done on other terms: stored once, found by the order, summed by time.
import { describe, expect, test } from "vitest";
import type { Counterfactual, CounterfactualRow } from "../../domain/counterfactual.ts";
import { type Amount, decimal, ZERO } from "../../money/decimal.ts";
import { HUGE, TINY } from "./records.ts";
import type { Opened } from "./store-under-test.ts";

const AT = 1_795_228_304_525;

type Differences = readonly [standard: string | null, ...strict: (string | null)[]];

function rowOf(
  profile: CounterfactualRow["profile"],
  latencyMs: number,
  difference: string | null,
): CounterfactualRow {
  const isExecuted = difference !== null;
  return {
    profile,
    latencyMs,
    status: isExecuted ? "FILLED" : "EXPIRED",
    executedQuantity: isExecuted ? decimal(HUGE) : ZERO,
    executedQuote: isExecuted ? decimal(HUGE) : ZERO,
    fee: isExecuted ? decimal(TINY) : ZERO,
    feeAsset: "BTC",
    firstFillAt: isExecuted ? AT - 200 : null,
    lastFillAt: isExecuted ? AT - 100 : null,
    difference: isExecuted ? decimal<Amount>(difference) : null,
  };
}

export function counterfactualOf(
  orderId: number,
  [standard, at0 = null, at50 = null, at250 = null]: Differences,
  changed: Partial<Counterfactual> = {},
): Counterfactual {
  return {
    strategyId: "one",
    orderId,
    symbol: "BTCUSDT",
    quoteAsset: "USDT",
    completedAt: AT,
    rows: [
      rowOf("standard", 0, standard),
      rowOf("strict", 0, at0),
      rowOf("strict", 50, at50),
      rowOf("strict", 250, at250),
      // The strategy's own latency is one of the alternatives'.
      rowOf("own", 50, "0"),
    ],
    ...changed,
  };
}

export function counterfactualCases(opened: Opened): void {
  describe("what orders would have done on other terms", () => {
    const { store } = opened;

    test("is found by the order, as it was stored first", async () => {
      const first = counterfactualOf(7, ["-0.0055055", "0", null, HUGE]);
      const others = counterfactualOf(7, ["1"], { strategyId: "two" });
      expect(await store.findCounterfactual("one", 7)).toBeNull();
      await store.storeCounterfactuals([]);
      await store.storeCounterfactuals([first, others]);
      await store.storeCounterfactuals([counterfactualOf(7, ["2"]), counterfactualOf(8, [TINY])]);
      const other = await opened.reopen();
      expect(await other.findCounterfactual("one", 7)).toEqual(first);
      expect(await other.findCounterfactual("two", 7)).toEqual(others);
      expect(await other.findCounterfactual("one", 8)).toEqual(counterfactualOf(8, [TINY]));
      expect(await other.findCounterfactual("two", 8)).toBeNull();
    });

    test("is summed from a time on, by quote asset, without what has no difference", async () => {
      expect(await store.sumCounterfactuals("one", 0)).toEqual([]);
      // Together beyond 2^53.
      const much = "90000000";
      await store.storeCounterfactuals([
        counterfactualOf(1, ["1000"], { completedAt: AT - 1 }),
        counterfactualOf(2, [much, "-0.0055055", null, TINY]),
        counterfactualOf(3, [much, "0.0000001", null, TINY], { completedAt: AT + 1 }),
        counterfactualOf(4, ["5"], { strategyId: "two" }),
        counterfactualOf(5, [HUGE, "3"], { quoteAsset: "BNB" }),
      ]);
      const sum = (orderCount: number, difference: string) => ({
        orderCount,
        difference: decimal(difference),
      });
      expect(await store.sumCounterfactuals("one", AT)).toEqual([
        // What no whole number holds is left out.
        {
          quoteAsset: "BNB",
          orderCount: 1,
          alternatives: [sum(0, "0"), sum(1, "3"), sum(0, "0"), sum(0, "0")],
        },
        {
          quoteAsset: "USDT",
          orderCount: 2,
          alternatives: [sum(2, "180000000"), sum(2, "-0.0055054"), sum(0, "0"), sum(2, "0.00000002")],
        },
      ]);
      expect((await store.sumCounterfactuals("one", 0)).map(({ orderCount }) => orderCount)).toEqual([1, 3]);
    });
  });
}
