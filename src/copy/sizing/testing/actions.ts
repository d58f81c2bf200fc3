// Actions of a strategy and entries of a copy's log, for tests; missing values are empty.
import {
  BLANK_ENTRY,
  type LeadPlacement,
  type LeadState,
  type MirrorEntry,
  type OrderIntent,
} from "../../../domain/copying.ts";
import { decimal, ZERO } from "../../../money/decimal.ts";

/** A strategy's holdings: `{ BTC: "0.5" }` on spot, `{ BTCUSDT: "-0.5" }` of futures, and its last prices. */
export function leadState(
  wallet: string,
  held: Readonly<Record<string, string>> = {},
  lastPrices: Readonly<Record<string, string>> = {},
): LeadState {
  return {
    wallet: decimal(wallet),
    held: new Map(Object.entries(held).map(([name, quantity]) => [name, decimal(quantity)])),
    lastPrices: new Map(Object.entries(lastPrices).map(([symbol, price]) => [symbol, decimal(price)])),
    promised: new Map(),
  };
}

export function placement(given: Partial<LeadPlacement>): LeadPlacement {
  return {
    kind: "PLACE",
    symbol: "BTCUSDT",
    orderId: 1,
    collectiveId: `order-${given.orderId ?? 1}`,
    side: "BUY",
    orderType: "MARKET",
    quantity: ZERO,
    price: ZERO,
    stopPrice: ZERO,
    reduceOnly: false,
    leverage: null,
    filled: null,
    ...given,
  };
}

export function actionOf<D extends OrderIntent>(seq: number, lead: LeadState, intent: D) {
  return { seq, version: seq, at: seq, lead, ...intent };
}

export function entryOf(given: Partial<MirrorEntry>): MirrorEntry {
  return {
    ...BLANK_ENTRY,
    ...{ copyId: "copy", entryId: 1, seq: 1, kind: "PLACE", symbol: "BTCUSDT", status: "FILLED" },
    ...{ side: "BUY", orderType: "MARKET", leadAt: 0, updatedAt: 0 },
    ...given,
  };
}
