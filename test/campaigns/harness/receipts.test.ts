// The oracle of receipts: a walk over two levels, of which one thing at a time is made wrong.
import { expect, test } from "vitest";
import type { Trade } from "../../../src/domain/order.ts";
import { isRefusal } from "../../../src/domain/refusal.ts";
import { apply } from "../../../src/engine/apply.ts";
import { decide } from "../../../src/engine/decide.ts";
import { STRICT_DEFAULTS, strictProfile } from "../../../src/engine/matching/terms.ts";
import { openStrategy } from "../../../src/engine/open-strategy.ts";
import { bookViewOf, MarketStub, symbolRules } from "../../../src/engine/testing/market-stub.ts";
import { decimal, type Quantity } from "../../../src/money/decimal.ts";
import { receiptFaults } from "./receipts.ts";

const AT = 10_000;

function walked() {
  const profile = strictProfile("SPOT", STRICT_DEFAULTS);
  if (profile === null) throw new Error("the first tier of fees is always known");
  const { account } = openStrategy("one", "SPOT", AT, profile);
  const market = new MarketStub([symbolRules("BTC")]);
  const asks = [
    ["50000", "0.001"],
    ["50001", "0.002"],
  ] as const;
  market.setBook("BTCUSDT", bookViewOf(AT, { BID: [], ASK: asks }));
  const order = { type: "PlaceOrder", symbol: "BTCUSDT", side: "BUY", orderType: "MARKET" } as const;
  const terms = { size: { quantity: decimal<Quantity>("0.002") }, price: null, stopPrice: null };
  const decision = decide(account, { ...order, ...terms, clientOrderId: "a" }, { market, at: AT });
  if (isRefusal(decision)) throw new Error(`the order is filled, and not ${decision.refusal}`);
  for (const event of decision.events) apply(account, event);
  const trades = decision.events.flatMap((event) => (event.type === "OrderFilled" ? [event.trade] : []));
  return { account, trades };
}

const { account, trades } = walked();
const [first, second] = trades as [Trade, Trade];
const { receipt } = first;

test("a walk over two levels follows from its receipts", () => {
  expect(trades).toHaveLength(2);
  expect(receiptFaults(trades, account)).toEqual([]);
});

test("a trade is at fault without a receipt, and under standard with one", () => {
  const { receipt: _, ...without } = first;
  expect(receiptFaults([without, second], account)).toContain("trade 1 under strict has no receipt");
  const standard = openStrategy("other", "SPOT", AT).account;
  expect(receiptFaults(trades, standard)).toHaveLength(2);
  expect(receiptFaults([without], standard)).toEqual([]);
});

test("a part is at fault that is not what the level had", () => {
  const less = { ...first, quantity: (first.quantity - 1_000n) as Quantity };
  expect(receiptFaults([less, second], account).join()).toContain("trade 1 does not follow");
});

test("a receipt is at fault that displays more than there was for the strategy", () => {
  if (receipt?.level == null) throw new Error("a walk takes levels");
  const level = { ...receipt.level, ownConsumed: decimal<Quantity>("0.0005") };
  const other = { ...first, receipt: { ...receipt, level } };
  expect(receiptFaults([other, second], account).join()).toContain("levels.0.ownConsumed");
});
