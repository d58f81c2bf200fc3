import { describe, expect, test } from "vitest";
import type { StrategyType } from "../../domain/account.ts";
import {
  EXACT_SETTINGS,
  type LeadAction,
  type LeadFilled,
  type LeadPlacement,
} from "../../domain/copying.ts";
import { contractRules } from "../../engine/testing/contract-rules.ts";
import { symbolRules } from "../../engine/testing/market-stub.ts";
import { decimal, formatBriefly } from "../../money/decimal.ts";
import { previewOrders } from "./preview.ts";
import { actionOf, leadState, placement } from "./testing/actions.ts";

const filled = (quantity: string, price: string): LeadFilled => ({
  quantity: decimal(quantity),
  price: decimal(price),
});

describe("a preview", () => {
  test("scales each order at its own time, and what was bought can be sold", () => {
    const prices = { BTCUSDT: "50000" };
    const actions = [
      actionOf(
        1,
        leadState("1000"),
        placement({ orderId: 1, quantity: decimal("0.01"), filled: filled("0.01", "50000") }),
      ),
      // Half of 0.00999 each has after the fee; ours is 0.00099900.
      actionOf(
        2,
        leadState("500", { BTC: "0.00999" }, prices),
        placement({ orderId: 2, side: "SELL", quantity: decimal("0.005"), filled: filled("0.005", "50000") }),
      ),
      actionOf(
        3,
        leadState("750", { BTC: "0.00499" }, prices),
        placement({ orderId: 3, quantity: decimal("0.0005"), filled: filled("0.0005", "50000") }),
      ),
    ];
    expect(inWords("SPOT", actions, "100")).toEqual([
      // 0.01 × 100 / 1000
      "1 sends 0.001 worth 50",
      // 0.005 × 0.000999 / 0.00999 = 0.0005
      "2 sends 0.0005 worth 25",
      // 0.0005 × 99.92… / 999.5 = 0.00004999, on the step 0.00004, worth 2
      "3 BELOW_MIN_NOTIONAL",
    ]);
  });

  test("begins with what a copy would hold that had been there before", () => {
    // 0.01 BTC are half of the strategy's 1000; of 100 they are 50, 0.001 BTC.
    const lead = leadState("500", { BTC: "0.01" }, { BTCUSDT: "50000" });
    const sale = placement({ side: "SELL", quantity: decimal("0.01"), filled: filled("0.01", "50000") });
    expect(inWords("SPOT", [actionOf(1, lead, sale)], "100")).toEqual(["1 sends 0.001 worth 50"]);
  });

  test("follows fills and cancels of open orders", () => {
    const limit: Partial<LeadPlacement> = {
      orderType: "LIMIT",
      quantity: decimal("0.016"),
      price: decimal("50000"),
    };
    const lead = leadState("1000", {}, { BTCUSDT: "60000" });
    const bought = leadState("200", { BTC: "0.015984" }, { BTCUSDT: "50000" });
    const second = actionOf(2, lead, placement({ ...limit, orderId: 2 }));
    const cancel = {
      kind: "CANCEL",
      symbol: "BTCUSDT",
      orderId: 1,
      collectiveId: "order-1",
      because: "CANCELED",
    } as const;
    const fill = {
      kind: "FILL",
      symbol: "BTCUSDT",
      orderId: 1,
      collectiveId: "order-1",
      side: "BUY",
      filled: filled("0.016", "50000"),
      empties: false,
    } as const;
    const first = actionOf(1, lead, placement({ ...limit, orderId: 1 }));
    // While the first order is open, 80 of 100 are reserved.
    expect(inWords("SPOT", [first, second], "100")).toEqual([
      "1 sends 0.0016 worth 80",
      "2 INSUFFICIENT_BALANCE",
    ]);
    expect(inWords("SPOT", [first, actionOf(2, lead, cancel), second], "100")).toEqual([
      "1 sends 0.0016 worth 80",
      "2 sends 0.0016 worth 80",
    ]);
    const sale = placement({
      orderId: 3,
      side: "SELL",
      quantity: decimal("0.015984"),
      orderType: "LIMIT",
      price: decimal("70000"),
    });
    expect(inWords("SPOT", [first, actionOf(2, lead, fill), actionOf(3, bought, sale)], "100")).toEqual([
      "1 sends 0.0016 worth 80",
      // All of 0.0015984, on the step.
      "3 sends 0.00159 worth 111.3",
    ]);
  });

  test("follows positions through their legs", () => {
    const opening = placement({
      orderId: 1,
      quantity: decimal("0.02"),
      leverage: 10,
      filled: filled("0.02", "60000"),
    });
    const fired = {
      kind: "FIRE_LEG",
      symbol: "BTCUSDT",
      legId: 2,
      collectiveId: "leg-2",
      side: "SELL",
      filled: filled("0.02", "61000"),
    } as const;
    const held = leadState("1000", { BTCUSDT: "0.02" }, { BTCUSDT: "60000" });
    const closing = placement({
      orderId: 3,
      side: "SELL",
      quantity: decimal("0.02"),
      leverage: 10,
      filled: filled("0.02", "60000"),
    });
    const actions = (middle: readonly LeadAction[]) => [
      actionOf(1, leadState("1000"), opening),
      ...middle,
      actionOf(3, held, closing),
    ];
    expect(inWords("FUTURES", actions([]), "500")).toEqual([
      "1 sends 0.01 worth 600",
      "3 sends 0.01 worth 600",
    ]);
    expect(inWords("FUTURES", actions([actionOf(2, held, fired)]), "500")).toEqual([
      "1 sends 0.01 worth 600",
      "3 NOTHING_HELD",
    ]);
  });

  test("a partly filled market order leaves no open order", () => {
    const half = placement({ orderId: 1, quantity: decimal("0.016"), filled: filled("0.008", "50000") });
    const lead = leadState("600", { BTC: "0.007992" }, { BTCUSDT: "50000" });
    const next = placement({ orderId: 2, quantity: decimal("0.01"), filled: filled("0.01", "50000") });
    // 40 of 100 are spent, and nothing else is spoken for: 0.01 × 99.96 / 999.6.
    expect(inWords("SPOT", [actionOf(1, leadState("1000"), half), actionOf(2, lead, next)], "100")).toEqual([
      "1 sends 0.0016 worth 80",
      "2 sends 0.001 worth 50",
    ]);
  });

  test("cuts an order for all that there is, and skips one that lacks more", () => {
    const all = placement({ orderId: 1, quantity: decimal("0.02"), filled: filled("0.02", "50000") });
    // 0.002 may cost 100.2 at 50100: 100 / 50100 = 0.001996.
    expect(inWords("SPOT", [actionOf(1, leadState("1000"), all)], "100")).toEqual([
      "1 sends 0.00199 worth 99.5",
    ]);
    const dearer = leadState("1000", {}, { BTCUSDT: "51500" });
    expect(inWords("SPOT", [actionOf(1, dearer, all)], "100")).toEqual(["1 INSUFFICIENT_BALANCE"]);
  });

  test("names exits, which a copy that holds nothing skips", () => {
    const open = placement({ orderId: 1, quantity: decimal("0.02"), leverage: 10 });
    const reduce = placement({ orderId: 2, side: "SELL", quantity: decimal("0.02"), leverage: 10 });
    // Through zero: it opens a short as well.
    const turn = placement({ orderId: 3, side: "SELL", quantity: decimal("0.05"), leverage: 10 });
    const flat = leadState("1000", {}, { BTCUSDT: "50000" });
    const long = leadState("1000", { BTCUSDT: "0.02" }, { BTCUSDT: "50000" });
    const actions = [actionOf(1, flat, open), actionOf(2, long, reduce), actionOf(3, long, turn)];
    expect(previewed("FUTURES", actions, "1000").map(({ isExit }) => isExit)).toEqual([false, true, false]);
  });

  test("of nothing is empty", () => {
    expect(inWords("SPOT", [], "100")).toEqual([]);
  });
});

function previewed(type: StrategyType, actions: readonly LeadAction[], wallet: string) {
  const rules = type === "SPOT" ? symbolRules("BTC") : contractRules("BTC");
  return previewOrders({
    type,
    actions,
    worked: decimal(wallet),
    settings: EXACT_SETTINGS,
    rulesOf: (symbol) => (symbol === rules.symbol ? rules : null),
  });
}

function inWords(type: StrategyType, actions: readonly LeadAction[], wallet: string): string[] {
  return previewed(type, actions, wallet).map(({ action, scaled, notional }) =>
    scaled.kind === "SKIPPED"
      ? `${action.orderId} ${scaled.skip.reason}`
      : `${action.orderId} sends ${formatBriefly(scaled.quantity)} worth ${formatBriefly(notional ?? 0n)}`,
  );
}
