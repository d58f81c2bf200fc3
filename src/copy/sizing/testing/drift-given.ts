// A copy and its strategy in one symbol, in the notation of drift tests.
import type { StrategyType } from "../../../domain/account.ts";
import { EMPTY_BOOK, EXACT_SETTINGS, type Holding, type MirrorEntry } from "../../../domain/copying.ts";
import type { SymbolRules } from "../../../domain/symbol.ts";
import { contractRules } from "../../../engine/testing/contract-rules.ts";
import { symbolRules } from "../../../engine/testing/market-stub.ts";
import { type Amount, decimal, type Price, type Quantity, ZERO } from "../../../money/decimal.ts";
import { type Drift, type DriftInput, driftOf } from "../drift.ts";
import { leadState } from "./actions.ts";

/** A copy with half of the holdings of a strategy of 1000 USDT, at 50000; missing values are in order. */
export type Given = {
  readonly lead?: string;
  readonly own?: string;
  readonly actual?: string;
  readonly wallet?: string;
  readonly start?: string | null;
  readonly entries?: readonly MirrorEntry[];
  readonly isPending?: boolean;
  readonly maxPerOrder?: string;
  readonly rules?: Partial<SymbolRules>;
};

export function drift(type: StrategyType, given: Given): readonly Drift[] {
  return driftOf(inputOf(type, given));
}

export function inputOf(type: StrategyType, given: Given): DriftInput {
  const isSpot = type === "SPOT";
  const { lead = "0", own = "0", actual = own, wallet = "500", start = "0", maxPerOrder } = given;
  const rules = { ...(isSpot ? symbolRules("BTC") : contractRules("BTC")), ...given.rules };
  const heldBy = (size: string) =>
    leadState("1000", size === "0" ? {} : { [isSpot ? "BTC" : "BTCUSDT"]: size });
  const holding: Holding = { quantity: decimal(own), cost: ZERO };
  return {
    type,
    lead: heldBy(lead),
    leadAtStart: start === null ? null : heldBy(start),
    settings: {
      ...EXACT_SETTINGS,
      maxPerOrder: maxPerOrder === undefined ? null : decimal<Amount>(maxPerOrder),
    },
    book: {
      ...EMPTY_BOOK,
      holdings: new Map(holding.quantity === 0n ? [] : [["BTCUSDT", holding]]),
      snapshot: {
        at: 1_000,
        wallet: decimal(wallet),
        available: decimal(wallet),
        equity: ZERO,
        held: new Map([["BTCUSDT", decimal<Quantity>(actual)]]),
      },
    },
    isPending: given.isPending ?? false,
    entries: given.entries ?? [],
    rulesOf: (symbol) => (symbol === "BTCUSDT" ? rules : null),
    prices: new Map([["BTCUSDT", decimal<Price>("50000")]]),
    leverages: new Map([["BTCUSDT", 10]]),
  };
}
