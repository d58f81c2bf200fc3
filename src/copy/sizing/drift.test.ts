import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { StrategyType } from "../../domain/account.ts";
import type { CopySettings } from "../../domain/copying.ts";
import { type Amount, decimal, formatBriefly, type Quantity, type Rate, ZERO } from "../../money/decimal.ts";
import { type DriftInput, driftOf, type RepairOrder, repairOrders } from "./drift.ts";
import { entryOf } from "./testing/actions.ts";
import { drift, type Given, inputOf } from "./testing/drift-given.ts";

describe("the target of spot", () => {
  test("is the strategy's holding times our equity over theirs, on the step", () => {
    // theirs 1000 + 0.02 × 50000 = 2000, ours 500 + 0.01 × 50000 = 1000.
    const [row] = drift("SPOT", { lead: "0.02", own: "0.01" });
    expect(row && formatBriefly(row.target)).toBe("0.01");
    expect(row?.cause).toBe("IN_LINE");
    expect(row?.repair).toBeNull();
    // theirs 1500, ours 500 + 25: 0.01 × 525 / 1500 = 0.0035.
    expect(targetOf("SPOT", { lead: "0.01", own: "0.0005" })).toBe("0.0035");
    // theirs 1166.65, ours 500: 0.003333 × 500 / 1166.65 = 0.00142844…
    expect(targetOf("SPOT", { lead: "0.003333", own: "0" })).toBe("0.00142");
  });

  test("there are no rows before the first poll, nor for symbols without holdings", () => {
    const input = inputOf("SPOT", { lead: "0.02", own: "0.01" });
    expect(driftOf({ ...input, book: { ...input.book, snapshot: null } })).toEqual([]);
    expect(drift("SPOT", { own: "0", lead: "0" })).toEqual([]);
  });
});

describe("a repair", () => {
  test("sells what is too much, and buys what is missing only if it may", () => {
    // ours 500 + 0.02 × 50000 = 1500 of 2000: target 0.015.
    const tooMuch = drift("SPOT", { lead: "0.02", own: "0.02" });
    expect(inWords(repairOrders(tooMuch, { mayIncrease: false }))).toEqual(["SELL 0.005"]);
    // ours 500 of 2000: target 0.005.
    const missing = drift("SPOT", { lead: "0.02", own: "0" });
    expect(repairOrders(missing, { mayIncrease: false })).toEqual([]);
    expect(inWords(repairOrders(missing, { mayIncrease: true }))).toEqual(["BUY 0.005 increases"]);
  });

  test("never sells what the copy has not bought, nor what the account has not any more", () => {
    expect(inWords(all("SPOT", { lead: "0", own: "0.01", actual: "5" }))).toEqual(["SELL 0.01"]);
    expect(inWords(all("SPOT", { lead: "0", own: "0.01", actual: "0.004" }))).toEqual(["SELL 0.004"]);
    expect(all("SPOT", { lead: "0", own: "0.01", actual: "0" })).toEqual([]);
    // A holding that its owner has sold is not bought again: target 0.01, own 0.01.
    expect(all("SPOT", { lead: "0.02", own: "0.01", actual: "0" })).toEqual([]);
  });

  test("opens nothing while something that the strategy holds has no price, and still reduces", () => {
    const withOdd = (given: Given, held: string) => {
      const input = inputOf("SPOT", given);
      const lead = { ...input.lead, held: new Map([...input.lead.held, ["ODD", decimal<Quantity>(held)]]) };
      return inWords(repairOrders(driftOf({ ...input, lead }), { mayIncrease: true }));
    };
    const missing = { lead: "0.02", own: "0" };
    expect(withOdd(missing, "0.00001")).toEqual(["BUY 0.005 increases"]);
    expect(withOdd(missing, "0.00002")).toEqual([]);
    expect(withOdd({ lead: "0.02", own: "0.02" }, "3")).toEqual(["SELL 0.005"]);
  });

  test("keeps the copier's bound for an order, and what there is", () => {
    expect(inWords(all("SPOT", { lead: "0.02", own: "0", maxPerOrder: "100" }))).toEqual([
      "BUY 0.002 increases",
    ]);
    expect(inWords(all("FUTURES", { lead: "0.4", own: "0" }))).toEqual([
      // Half of it is worth 10000. At 10 times one takes 5010 at 50100, loses 100 at once, and 25.05 are the
      // fee: 500 / 5135.05.
      "BUY 0.097 increases",
    ]);
    // 513 are enough for more than 0.1 at 50000, but for just less at the price that the market may have when
    // the order arrives.
    expect(inWords(all("FUTURES", { lead: "0.4", own: "0", wallet: "513" }))).toEqual([
      "BUY 0.099 increases",
    ]);
  });

  test("keeps the copier's bounds for symbols, a position, the exposure and the leverage", () => {
    const increase = (settings: Partial<CopySettings>, given: Given = { lead: "0.02", own: "0.002" }) =>
      inWords(repairOrders(bounded("FUTURES", given, settings), { mayIncrease: true }));
    // 500 of 1000: target 0.01, so 0.008 are missing.
    expect(increase({})).toEqual(["BUY 0.008 increases"]);
    expect(increase({ symbols: ["ETHUSDT"] })).toEqual([]);
    // 0.6 × 500 = 300 are 0.006 at 50000, of which there are 0.002.
    expect(increase({ positionMax: decimal("0.6") })).toEqual(["BUY 0.004 increases"]);
    expect(increase({ exposureMax: decimal("0.5") })).toEqual(["BUY 0.003 increases"]);
    // At leverage 1 one takes 50100 at 50100, loses 100 at once, and 25.05 are the fee: 500 / 50225.05.
    expect(increase({ leverageMax: 1 }, { lead: "0.04", own: "0" })).toEqual(["BUY 0.009 increases"]);
    const causeWith = (settings: Partial<CopySettings>) =>
      bounded("FUTURES", { lead: "0.02", own: "0.002" }, settings).map(({ cause }) => cause);
    expect(causeWith({ positionMax: decimal("0.6") })).toEqual(["LIMITED"]);
    expect(causeWith({ symbols: ["ETHUSDT"] })).toEqual(["LIMITED"]);
    expect(causeWith({ positionMax: decimal("5") })).toEqual(["UNEXPLAINED"]);
    // An excess is sold whatever the settings.
    const none = { symbols: ["ETHUSDT"], positionMax: decimal<Rate>("0.1") };
    expect(increase(none, { lead: "0", own: "0.01" })).toEqual(["SELL 0.01 reduce"]);
  });

  test("of a fixed ratio leads to the ratio; of a fixed amount only out of what the strategy has left", () => {
    const ratio = { size: { by: "FIXED_RATIO", ratio: decimal<Rate>("0.25") } } as const;
    const [row] = bounded("FUTURES", { lead: "0.02", own: "0.002" }, ratio);
    expect(row && formatBriefly(row.target)).toBe("0.005");
    const amount = { size: { by: "FIXED_AMOUNT", amount: decimal<Amount>("100") } } as const;
    const ordersOf = (given: Given) =>
      inWords(repairOrders(bounded("FUTURES", given, amount), { mayIncrease: true }));
    expect(ordersOf({ lead: "0.02", own: "0.004" })).toEqual([]);
    expect(ordersOf({ lead: "0.02", own: "0" })).toEqual([]);
    expect(ordersOf({ lead: "0", own: "0.004" })).toEqual(["SELL 0.004 reduce"]);
    expect(ordersOf({ lead: "-0.02", own: "0.004" })).toEqual(["SELL 0.004 reduce"]);
  });

  test("of a contract reduces by the position, and goes through zero with two orders", () => {
    expect(inWords(all("FUTURES", { lead: "0.02", own: "0.03" }))).toEqual(["SELL 0.02 reduce"]);
    expect(inWords(all("FUTURES", { lead: "-0.02", own: "0.03" }))).toEqual([
      "SELL 0.03 reduce",
      "SELL 0.01 increases",
    ]);
    expect(
      inWords(repairOrders(drift("FUTURES", { lead: "-0.02", own: "0.03" }), { mayIncrease: false })),
    ).toEqual(["SELL 0.03 reduce"]);
    // The account's position was reversed outside the copy: there is nothing of ours to close, and nothing is
    // opened beside it.
    expect(all("FUTURES", { lead: "0", own: "0.03", actual: "-0.01" })).toEqual([]);
  });

  test("leaves to open orders what they will do, and waits for orders in flight", () => {
    const resting = entryOf({
      status: "RESTING",
      side: "SELL",
      quantity: decimal("0.006"),
      price: decimal("60000"),
    });
    expect(inWords(all("SPOT", { lead: "0", own: "0.01", entries: [resting] }))).toEqual(["SELL 0.004"]);
    expect(all("SPOT", { lead: "0", own: "0.01", isPending: true })).toEqual([]);
    expect(all("SPOT", { lead: "0", own: "0.01", rules: { status: "HALT" } })).toEqual([]);
  });

  test("counts an open order without a size of its own as nothing", () => {
    const sized = entryOf({ status: "RESTING", side: "SELL", quantity: decimal("0.006") });
    const unsized = { ...sized, quantity: null };
    expect(inWords(all("SPOT", { lead: "0", own: "0.01", entries: [sized] }))).toEqual(["SELL 0.004"]);
    expect(inWords(all("SPOT", { lead: "0", own: "0.01", entries: [unsized] }))).toEqual(["SELL 0.01"]);
  });

  test("done twice does nothing the second time, and never goes beyond the target", () => {
    const units = (max: number) => fc.integer({ min: -max, max }).map((drawn) => BigInt(drawn) * 1_000n);
    const drawn = fc.record({
      type: fc.constantFrom<StrategyType>("SPOT", "FUTURES"),
      mayIncrease: fc.boolean(),
      lead: units(5_000),
      own: units(5_000),
      actual: units(5_000),
    });
    let repaired = 0;
    fc.assert(
      fc.property(drawn, ({ type, mayIncrease, ...sizes }) => {
        const textOf = (size: bigint) => formatBriefly(type === "SPOT" && size < 0n ? -size : size);
        const [lead, own, actual] = [textOf(sizes.lead), textOf(sizes.own), textOf(sizes.actual)];
        const before = inputOf(type, { lead, own, actual, wallet: "100000" });
        const orders = repairOrders(driftOf(before), { mayIncrease });
        repaired += orders.length;
        let input = before;
        for (const order of orders) input = executed(input, order);
        expect(repairOrders(driftOf(input), { mayIncrease })).toEqual([]);
        checkNearer(before, input, { mayIncrease });
      }),
      { numRuns: 2_000 },
    );
    expect(repaired).toBeGreaterThan(500);
  });
});

function bounded(type: StrategyType, given: Given, settings: Partial<CopySettings>) {
  const input = inputOf(type, given);
  return driftOf({ ...input, settings: { ...input.settings, ...settings } });
}

function all(type: StrategyType, given: Given): readonly RepairOrder[] {
  return repairOrders(drift(type, given), { mayIncrease: true });
}

function targetOf(type: StrategyType, given: Given): string | undefined {
  const [row] = drift(type, given);
  return row && formatBriefly(row.target);
}

/** The order is filled at the price, without a fee. */
function executed(input: DriftInput, { side, quantity }: RepairOrder): DriftInput {
  const { snapshot } = input.book;
  if (snapshot === null) throw new Error("a repair needs a snapshot");
  const signed = side === "BUY" ? quantity : -quantity;
  const own = ((input.book.holdings.get("BTCUSDT")?.quantity ?? 0n) + signed) as Quantity;
  const actual = ((snapshot.held.get("BTCUSDT") ?? 0n) + signed) as Quantity;
  const wallet = input.type === "SPOT" ? ((snapshot.wallet - signed * 50_000n) as Amount) : snapshot.wallet;
  return {
    ...input,
    book: {
      ...input.book,
      holdings: new Map(own === 0n ? [] : [["BTCUSDT", { quantity: own, cost: ZERO }]]),
      snapshot: { ...snapshot, wallet, held: new Map([["BTCUSDT", actual]]) },
    },
  };
}

/** A repair without leave never makes a holding larger, and none takes it past its target. */
function checkNearer(
  before: DriftInput,
  after: DriftInput,
  { mayIncrease }: { readonly mayIncrease: boolean },
): void {
  const size = ({ book }: DriftInput) => book.holdings.get("BTCUSDT")?.quantity ?? 0n;
  const [from, to] = [size(before), size(after)];
  const [target = 0n] = driftOf(before).map((row) => row.target as bigint);
  if (from < to) expect(to <= target || to <= 0n, "past its target").toBe(true);
  if (from > to) expect(to >= target || to >= 0n, "past its target").toBe(true);
  if (mayIncrease) return;
  expect(from >= 0n ? to >= 0n && to <= from : to <= 0n && to >= from, "increased without leave").toBe(true);
}

function inWords(orders: readonly RepairOrder[]): string[] {
  return orders.map(({ side, quantity, increases, reduceOnly }) =>
    [
      side,
      formatBriefly(quantity),
      ...(increases ? ["increases"] : []),
      ...(reduceOnly ? ["reduce"] : []),
    ].join(" "),
  );
}
