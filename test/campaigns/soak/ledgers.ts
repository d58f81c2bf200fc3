// One subscription as its consumer sees it: what every message has to be, given those before it. Source:
// specification 6.3 and 6.4.
import type { MarketData, OrderBook } from "../../../src/streams/topics.ts";
import type { Fault } from "./faults.ts";

export type Ledger<Message> = {
  /** What is wrong with a message; null of a good one. */
  take(message: Message): Fault | null;
  /** Resets the subscription for a new connection: streams carry no history. */
  beginAnew(): void;
};

type Side = readonly (readonly [price: string, quantity: string])[];

/**
 * Books whose ids never go back, also on the next connection. The same book may be sent twice: books are sent
 * on schedule.
 */
export function depthLedger(name: string): Ledger<OrderBook> {
  let heldId = 0;
  return {
    take({ lastUpdateId, levels, bids, asks }) {
      if (!Number.isSafeInteger(lastUpdateId) || lastUpdateId < heldId) {
        return { kind: "ID_WENT_BACK", what: `${name}: ${lastUpdateId} after ${heldId}` };
      }
      heldId = lastUpdateId;
      const isFull = bids.length > 0 && asks.length > 0 && bids.length <= levels && asks.length <= levels;
      const isSorted = isAscending(asks, 1) && isAscending(bids, -1);
      if (isFull && isSorted && priceOf(bids[0]) < priceOf(asks[0])) return null;
      return { kind: "BAD_BOOK", what: `${name}: ${JSON.stringify({ lastUpdateId, bids, asks })}` };
    },
    beginAnew() {},
  };
}

/**
 * Candles of `intervalMs` that follow each other: each final once, none left out, and nothing of a candle
 * after its final.
 */
export function candleLedger(
  name: string,
  intervalMs: number,
): Ledger<MarketData> & { readonly finals: number } {
  let held: MarketData["candle"] | null = null;
  let finals = 0;
  const fault = (candle: MarketData["candle"]): Fault | null => {
    const { startTime, closeTime, isFinal } = candle;
    const told = { name, startTime, isFinal, held };
    if (closeTime !== startTime + intervalMs - 1 || !isShaped(candle)) {
      return { kind: "BAD_CANDLE", what: JSON.stringify({ name, candle }) };
    }
    if (held === null) return null;
    if (startTime < held.startTime) return { kind: "OLDER_CANDLE", what: JSON.stringify(told) };
    if (startTime === held.startTime) {
      if (!held.isFinal) return null;
      return { kind: isFinal ? "FINAL_TWICE" : "TICK_AFTER_FINAL", what: JSON.stringify(told) };
    }
    if (held.isFinal && startTime === held.startTime + intervalMs) return null;
    return { kind: "FINAL_MISSED", what: JSON.stringify(told) };
  };
  return {
    get finals() {
      return finals;
    },
    take({ candle }) {
      const found = fault(candle);
      if (candle.isFinal && found === null) finals += 1;
      held = candle;
      return found;
    },
    beginAnew() {
      held = null;
    },
  };
}

function isShaped({ open, high, low, close, volume }: MarketData["candle"]): boolean {
  const [first, most, least, last] = [open, high, low, close].map(Number);
  if (first === undefined || most === undefined || least === undefined || last === undefined) return false;
  return least > 0 && least <= Math.min(first, last) && most >= Math.max(first, last) && Number(volume) >= 0;
}

function isAscending(side: Side, direction: 1 | -1): boolean {
  return side.every(
    (level, index) => index === 0 || (priceOf(level) - priceOf(side[index - 1])) * direction > 0,
  );
}

function priceOf(level: Side[number] | undefined): number {
  return Number(level?.[0]);
}
