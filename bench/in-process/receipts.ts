// Receipts: built from what a decision knows and encoded as they are stored, those of walks and those of
// trades of the market by turns.
import type { Account } from "../../src/domain/account.ts";
import type { BookStamp, Receipt, TakenLevel } from "../../src/domain/receipt.ts";
import { matchedBy, takenFrom } from "../../src/engine/matching/evidence.ts";
import { openStrategy } from "../../src/engine/open-strategy.ts";
import { decimal, type Price, type Quantity, ZERO } from "../../src/money/decimal.ts";
import { encoded, stored, TRADE } from "../../src/store/stored-forms.ts";
import { carryOut, STRICT_SPOT } from "./decisions.ts";
import { MARKET, NEAR_LIMIT_BUY } from "./spot-decisions.ts";

const RECEIPTS = 20_000;
const AT = 1_790_000_000_000;
const PRICE = decimal<Price>("0.32");
const QUANTITY = decimal<Quantity>("36.7");
const STEP = decimal<Quantity>("0.1");
const BOOK: BookStamp = {
  ...{ lastUpdateId: 50_093_239_224, eventTime: AT, receivedAt: AT + 12 },
  ...{ tickerUpdateId: 50_093_239_231, lastTradeId: 3_085_683_259 },
};
const LEVEL: TakenLevel = {
  ...{ price: PRICE, side: "ASK", index: 0, displayed: QUANTITY, fromTicker: false },
  ...{ newerTrades: ZERO, ownConsumed: STEP, available: QUANTITY, step: STEP },
};
const MATCHED = { cause: "TRADE_AT_PRICE", fill: QUANTITY, ahead: ZERO } as const;

const account: Account = openStrategy("s", "SPOT", AT, STRICT_SPOT).account;
carryOut(account, NEAR_LIMIT_BUY, { market: MARKET, at: AT });
const [order] = account.openOrders.values();
if (order === undefined) throw new Error("a limit below the market rests");
const open = order;

/** Receipts per second. */
export function receiptsPerSecond(): number {
  return perSecond((number) => encoded(receiptOf(number), TRADE.receipt));
}

/** The same, built and converted before. */
export function plainReceiptsPerSecond(): number {
  const converted = [0, 1].map((number) => stored(receiptOf(number), TRADE.receipt));
  return perSecond((number) => JSON.stringify(converted[number % 2]));
}

function receiptOf(number: number): Receipt {
  if (number % 2 === 0) {
    return takenFrom(account, open, { level: LEVEL, quantity: QUANTITY, cause: "WALK", book: BOOK, at: AT })
      .receipt;
  }
  const trade = { aggregateId: number, price: PRICE, quantity: QUANTITY, side: "BID", time: AT } as const;
  const queues = new Map([[open.orderId, { ahead: STEP, tradedAtPrice: STEP, canceledAhead: STEP }]]);
  const command = { type: "MatchTrade", symbol: open.symbol, trade, queues } as const;
  const given = { available: QUANTITY, remaining: QUANTITY, step: STEP };
  return matchedBy(account, open, command, MATCHED, given).receipt;
}

function perSecond(encode: (number: number) => string): number {
  let length = 0;
  const start = performance.now();
  for (let number = 0; number < RECEIPTS; number += 1) length += encode(number).length;
  const elapsedMs = performance.now() - start;
  if (length < RECEIPTS) throw new Error("a receipt is some text");
  return (RECEIPTS * 1_000) / elapsedMs;
}
