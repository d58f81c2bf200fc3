import { expect, test } from "vitest";
import { type Receipt, receiptInWords } from "./receipt-words.ts";

const TRADE = {
  side: "BUY" as const,
  ...{ tradeId: 2, orderId: 1, symbol: "BTCUSDT", price: "60001", quantity: "0.0005" },
  ...{ quoteQuantity: "30.0005", fee: "0.0000005", feeAsset: "BTC", isMaker: false, at: 1, realised: null },
  hasReceipt: true,
} as const;
const LEVEL = {
  ...{ tradeId: 2, index: 1, price: "60001", displayed: "0.0008", fromTicker: false, newerTrades: "0" },
  ...{ ownConsumed: "0", available: "0.0008", taken: "0.0005" },
};
const RECEIPT: Receipt = {
  ...{ cause: "WALK", remaining: "0.0005", limit: null, arrival: null, book: null, walk: [LEVEL] },
  ...{ queue: null, marketTrade: null, feeRate: "0.001", feeTier: "regular", refreshMs: 5_000 },
};
const QUEUE = {
  ...{ model: "trades", aheadAtPlacement: "0.001", tradedAtPrice: "0", canceledAhead: "0" },
  ...{ aheadBefore: "0.0004", ahead: "0", history: null },
};
const MARKET_TRADE = { aggregateId: 7, price: "60001", quantity: "0.0006", time: 1, available: "0.0006" };

const said = (changed: Partial<Receipt>) => receiptInWords(TRADE, { ...RECEIPT, ...changed }).join(" ");

test("a walk says which level it took from, and why it ended there", () => {
  expect(said({})).toBe(
    "Took 0.0005 at 60,001, level 2 of the asks, where 0.0008 was displayed. The order had 0.0005 to fill, so it ended here.",
  );
  const all = { ...LEVEL, index: 0, available: "0.0005", ownConsumed: "0.0003", newerTrades: "0.0001" };
  const next = { ...LEVEL, tradeId: 3, index: 1 };
  expect(said({ walk: [all, next], remaining: "0.002" })).toBe(
    "Took 0.0005 at 60,001, the best ask, where 0.0008 was displayed. 0.0001 that was traded there after the book is subtracted already. Of it 0.0003 counted as consumed by this strategy before, which left 0.0005. That was all that was available there; the order had 0.002 to fill and went on to the next level.",
  );
  const before = { ...LEVEL, tradeId: 1, index: 0 };
  expect(said({ walk: [before, { ...LEVEL, available: "0.0005" }], remaining: "0.002" })).toBe(
    "Took 0.0005 at 60,001, level 2 of the asks, where 0.0008 was displayed. That was all that was available there; the order had 0.002 to fill, and nothing more was available within its bounds.",
  );
  expect(said({ walk: [{ ...LEVEL, fromTicker: true }], cause: "BOOK_CROSSED" })).toBe(
    "An ask of 0.0008 at 60,001 reached the order's limit. On the exchange it would have been matched with this order. The quantity is that of the ticker, which was newer than the book. 0.0005 was filled at the limit 60,001, as maker.",
  );
});

test("a queue says what was in front, what moved it and what the trade left", () => {
  const matched = { cause: "TRADE_AT_PRICE", walk: [], queue: QUEUE, marketTrade: MARKET_TRADE } as const;
  expect(said(matched)).toBe(
    "When the order joined the queue at 60,001, 0.001 was displayed in front of it. A seller then traded 0.0006 at 60,001. 0.0004 went to those in front, and 0.0005 of 0.0005 was filled.",
  );
  const moved = { ...QUEUE, tradedAtPrice: "0.0005", canceledAhead: "0.0001", aheadAtPlacement: null };
  expect(said({ ...matched, cause: "TRADE_THROUGH", queue: moved })).toBe(
    "When the order joined the queue it was not known what was displayed in front of it. Before this trade 0.0005 was traded at the price, and 0.0001 in front counted as canceled. A seller then traded 0.0006 at 60,001. That is beyond the limit, so it would have met this order first: 0.0005 of 0.0005 was filled at the limit 60,001.",
  );
  expect(said({ ...matched, marketTrade: { ...MARKET_TRADE, available: "0.0002" } })).toContain(
    "Earlier orders of this strategy left 0.0002 of it.",
  );
});

test("what has neither says how it was filled", () => {
  expect(said({ cause: "TAKEOVER", walk: [] })).toContain("taken over at the bankruptcy price 60,001");
});
