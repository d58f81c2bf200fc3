import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EXACT_SETTINGS, type LeadPlacement, type LeadState } from "../../domain/copying.ts";
import type { SymbolRules } from "../../domain/symbol.ts";
import { contractRules } from "../../engine/testing/contract-rules.ts";
import { symbolRules } from "../../engine/testing/market-stub.ts";
import { type Amount, decimal, formatBriefly, type Price, type Quantity, ZERO } from "../../money/decimal.ts";
import { smallestBalances } from "./preview.ts";
import { NOTHING_RESTS } from "./proportion.ts";
import { scaleOrder } from "./scale-order.ts";
import { actionOf, leadState, placement } from "./testing/actions.ts";

const SPOT_RULES = symbolRules("BTC");
const bySymbol = (rules: SymbolRules) => (symbol: string) => (symbol === rules.symbol ? rules : null);

describe("the smallest balance", () => {
  test("is the least equity at which the scaled size has quantity and notional", () => {
    const lead = leadState("1000", {}, { BTCUSDT: "50000" });
    const filled = { quantity: decimal<Quantity>("0.01"), price: decimal<Price>("50000") };
    // The least of 5 USDT at 50000 is 0.0001; 0.0001 × 1000 / 0.01 = 10. At a limit of 30000 it is 0.00017:
    // 17.
    const actions = [
      actionOf(1, lead, placement({ quantity: decimal("0.01"), filled })),
      actionOf(
        2,
        lead,
        placement({ quantity: decimal("0.01"), orderType: "LIMIT", price: decimal("30000") }),
      ),
    ];
    expect(inWords(actions.slice(0, 1))).toEqual("1: 10 10 10");
    expect(inWords(actions)).toEqual("2: 17 17 17");
  });

  test("for 95 and 80 % leaves out the orders that ask for most", () => {
    // Orders of 0.001 to 0.02, in steps of 0.001: of 20 orders 19 are 95 % and 16 are 80 %. 0.0001 × 1000 /
    // quantity.
    const lead = leadState("1000", {}, { BTCUSDT: "50000" });
    const actions = Array.from({ length: 20 }, (_, at) =>
      actionOf(at, lead, placement({ quantity: ((BigInt(at) + 1n) * 100_000n) as Quantity })),
    );
    // The largest 19 begin with 0.002, the largest 16 with 0.005.
    expect(inWords(actions)).toBe("20: 100 50 20");
  });

  test("of what is not copied anyhow, or of nothing, is none", () => {
    const lead = leadState("1000");
    const other = actionOf(1, lead, placement({ symbol: "ETHBTC", quantity: decimal("1") }));
    expect(smallestBalances("SPOT", [other], bySymbol(SPOT_RULES))).toBeNull();
    expect(smallestBalances("SPOT", [], bySymbol(SPOT_RULES))).toBeNull();
  });

  test("of a contract's reductions does not ask for the notional", () => {
    const lead = leadState("1000", { BTCUSDT: "0.02" }, { BTCUSDT: "40000" });
    const opening = actionOf(1, lead, placement({ quantity: decimal("0.02"), leverage: 10 }));
    const reducing = actionOf(2, lead, placement({ side: "SELL", quantity: decimal("0.02"), leverage: 10 }));
    const rules = bySymbol(contractRules("BTC"));
    // 50 / 40000 = 0.00125, on the step 0.002: 0.002 × 1000 / 0.02; the other way 0.001.
    expect(formatBriefly(smallestBalances("FUTURES", [opening], rules)?.all ?? ZERO)).toBe("100");
    expect(formatBriefly(smallestBalances("FUTURES", [reducing], rules)?.all ?? ZERO)).toBe("50");
  });

  test("is enough, and one unit less is not", () => {
    const drawn = fc.record({
      quantity: fc.integer({ min: 10, max: 5_000_000 }).map((units) => BigInt(units) * 100n),
      wallet: fc.integer({ min: 1, max: 100_000 }).map((units) => BigInt(units) * 100_000_000n),
      price: fc.integer({ min: 10, max: 90_000 }).map((units) => BigInt(units) * 100_000_000n),
    });
    fc.assert(
      fc.property(drawn, ({ quantity, wallet, price }) => {
        const lead: LeadState = {
          ...leadState("0"),
          wallet: wallet as Amount,
          lastPrices: new Map([["BTCUSDT", price as Price]]),
        };
        const order = placement({ quantity: quantity as Quantity });
        const least = smallestBalances("SPOT", [actionOf(1, lead, order)], bySymbol(SPOT_RULES))?.all ?? ZERO;
        expect(isTooSmall(order, lead, least)).toBe(false);
        expect(isTooSmall(order, lead, (least - 1n) as Amount)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

function isTooSmall(order: LeadPlacement, lead: LeadState, wallet: Amount): boolean {
  const scaled = scaleOrder({
    type: "SPOT",
    placement: order,
    lead,
    settings: EXACT_SETTINGS,
    holdings: new Map(),
    wallet,
    available: wallet,
    restingWorth: ZERO,
    restingElsewhere: ZERO,
    restingOnSymbol: NOTHING_RESTS,
    accountHeld: ZERO,
    rules: SPOT_RULES,
    prices: new Map(),
    opensNot: null,
  });
  return scaled.kind === "SKIPPED" && scaled.skip.reason.startsWith("BELOW_");
}

function inWords(actions: Parameters<typeof smallestBalances>[1]): string {
  const found = smallestBalances("SPOT", actions, bySymbol(SPOT_RULES));
  if (found === null) return "none";
  return `${found.orders}: ${[found.all, found.most, found.many].map(formatBriefly).join(" ")}`;
}
