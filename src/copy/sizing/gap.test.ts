import { expect, test } from "vitest";
import { type Amount, decimal, formatBriefly } from "../../money/decimal.ts";
import type { ExecutedEntry } from "../../store/ports/copies.ts";
import { gapOf, slippageBps } from "./gap.ts";

test.each([
  // Paid 60006 where the strategy paid 60000: 6 / 60000 = 1 basis point.
  ["BUY", "0.01", "600.06", "60000", "1"],
  ["BUY", "0.01", "599.94", "60000", "-1"],
  ["SELL", "0.01", "599.94", "60000", "1"],
  ["SELL", "0.01", "600.06", "60000", "-1"],
  ["BUY", "0.01", "600", "60000", "0"],
  // 1 / 30000 = 0.3333… basis points, rounded up.
  ["BUY", "1", "30001", "30000", "0.34"],
  ["SELL", "1", "30001", "30000", "-0.33"],
] as const)("a %s of %s for %s against %s is %s basis points worse", (side, quantity, quote, lead, bps) => {
  const found = slippageBps({
    side,
    executedQuantity: decimal(quantity),
    executedQuote: decimal(quote),
    leadPrice: decimal(lead),
  });
  expect(formatBriefly(found ?? -1n)).toBe(bps);
});

test("what executed nothing, or has no price beside it, has no slippage", () => {
  const entry = { side: "BUY", executedQuote: decimal<Amount>("1") } as const;
  expect(slippageBps({ ...entry, executedQuantity: decimal("0"), leadPrice: decimal("1") })).toBeNull();
  expect(slippageBps({ ...entry, executedQuantity: decimal("1"), leadPrice: decimal("0") })).toBeNull();
});

test("slippage is summed up by symbol and by size", () => {
  const summary = gapOf([
    executed("BTCUSDT", "0.001", "60.006", "60000", 100),
    executed("BTCUSDT", "0.01", "600.18", "60000", 200),
    executed("BTCUSDT", "0.001", "60", "60000", 301),
    executed("ETHUSDT", "0.001", "2", "2000", 50),
    executed("ETHUSDT", "10", "20040", "2000", 50),
  ]);
  // Slippages: BTC 1, 3 and 0; ETH 0 and 20.
  expect(inWords(summary.bySymbol)).toEqual([
    "BTCUSDT 3 median 1 worst 3 delay 200",
    "ETHUSDT 2 median 10 worst 20 delay 50",
  ]);
  expect(
    inWords(
      summary.bySize.map(({ upTo, ...gap }) => ({
        ...gap,
        symbol: upTo === null ? "all" : formatBriefly(upTo),
      })),
    ),
  ).toEqual([
    "10 1 median 0 worst 0 delay 50",
    "100 2 median 0.5 worst 1 delay 201",
    "1000 1 median 3 worst 3 delay 200",
    "all 1 median 20 worst 20 delay 50",
  ]);
  expect(gapOf([])).toEqual({ bySymbol: [], bySize: [], byOrder: [] });
});

test("the slippage of an order is that of all copies of it", () => {
  const order = (collectiveId: string, copyId: string, quote: string, delayMs: number): ExecutedEntry => ({
    ...executed("BTCUSDT", "0.01", quote, "60000", delayMs),
    ...{ collectiveId, copyId, leadQuantity: decimal("0.5") },
  });
  const leg = { ...order("third", "ann", "600", 0), leadQuantity: null, kind: "FIRE_LEG" } as const;
  // The market's clock was ahead of ours by 40 ms: that is no delay.
  const gaps = gapOf([
    order("second", "ann", "600.06", 100),
    order("second", "bob", "600.18", 201),
    order("second", "bob", "600.12", -40),
    order("first", "ann", "599.94", 30),
    leg,
  ]).byOrder;
  expect(gaps.map(({ collectiveId, isLeg, copies }) => ({ collectiveId, isLeg, copies }))).toEqual([
    { collectiveId: "second", isLeg: false, copies: 2 },
    { collectiveId: "first", isLeg: false, copies: 1 },
    { collectiveId: "third", isLeg: true, copies: 1 },
  ]);
  expect(gaps[0]).toMatchObject({ at: 1_000, side: "BUY", leadQuantity: decimal("0.5") });
  expect(inWords(gaps)).toEqual([
    "BTCUSDT 3 median 2 worst 3 delay 100",
    "BTCUSDT 1 median -1 worst -1 delay 30",
    "BTCUSDT 1 median 0 worst 0 delay 0",
  ]);
});

function executed(
  symbol: string,
  quantity: string,
  quote: string,
  leadPrice: string,
  delayMs: number,
): ExecutedEntry {
  return {
    copyId: "copy",
    strategyId: "strategy",
    entryId: 1,
    collectiveId: "order",
    kind: "PLACE",
    leadQuantity: decimal("1"),
    symbol,
    side: "BUY",
    executedQuantity: decimal(quantity),
    executedQuote: decimal(quote),
    leadPrice: decimal(leadPrice),
    leadAt: 1_000,
    acknowledgedAt: 1_000 + delayMs,
  };
}

function inWords(
  gaps: readonly {
    symbol: string;
    orders: number;
    medianBps: bigint;
    worstBps: bigint;
    meanDelayMs: number;
  }[],
): string[] {
  return gaps.map(
    ({ symbol, orders, medianBps, worstBps, meanDelayMs }) =>
      `${symbol} ${orders} median ${formatBriefly(medianBps)} worst ${formatBriefly(worstBps)} delay ${meanDelayMs}`,
  );
}
