// What is asked of a spot strategy: orders of every type near the market, now and then too large, off the
// step or on the wrong side of it; cancels; and what a watcher would do that has it all wrong.
import type { Command, PlaceOrder } from "../../../../src/domain/command.ts";
import { isStopType, type Side, SPOT_ORDER_TYPES } from "../../../../src/domain/order.ts";
import type { Amount, Price, Quantity } from "../../../../src/money/decimal.ts";
import { SCALE } from "../../../../src/money/decimal.ts";
import { freeOf } from "../../../../src/money/posting.ts";
import { pick } from "../chance.ts";
import { cancelOne, near, type Scenario } from "../scenario.ts";

/** The step of every lot, in units of 1e-8. */
const STEP = 1_000n;

/** What somebody asks for next. */
export function drawSpot(scenario: Scenario): readonly Command[] {
  const choice = scenario.random();
  if (choice < 0.75) return [randomOrder(scenario)];
  if (choice < 0.93) return [cancelOne(scenario)];
  if (choice < 0.97) return mistakes(scenario);
  return [{ type: "CancelOpenOrders", symbol: scenario.symbol }];
}

/** Any order, at its own prices, reached in either way. */
function mistakes({ random, orders }: Scenario): readonly Command[] {
  const order = pick(random, [...orders.values()]);
  if (order === undefined) return [];
  const { orderId } = order;
  const seen = random() < 0.5 ? order.price : order.stopPrice;
  return [
    { type: "FillRestingOrder", orderId, seen },
    { type: "TriggerStop", orderId, seen },
  ];
}

function randomOrder({ random, market, account, symbol, clientId }: Scenario): PlaceOrder {
  const middle = market.middle(symbol);
  const tick = market.tick(symbol);
  const base = freeOf(account.balances, symbol.replace(/USDT$/, ""));
  // Nobody sells what he does not hold, or hardly ever.
  const side: Side = random() < (base > 0n ? 0.5 : 0.95) ? "BUY" : "SELL";
  const orderType = pick(random, SPOT_ORDER_TYPES) ?? "LIMIT";
  const isLimit = orderType === "LIMIT" || orderType === "STOP_LOSS_LIMIT";
  const away = side === "BUY" ? 1 : -1;
  // A limit waits for a better price, a stop for a worse one; some of each are on the other side of the
  // market.
  const stop = isStopType(orderType) ? near(middle, away * (random() * 200 - 30), tick) : null;
  const onTick = isLimit ? near(stop ?? middle, away * (random() * 150 - 100), tick) : null;
  const limit = onTick !== null && random() < 0.03 ? ((onTick + 1n) as Price) : onTick;

  const funds = side === "BUY" ? freeOf(account.balances, "USDT") : base;
  // Mostly small, so that several stand beside each other; at times all there is, so that a leap makes it too
  // little.
  const share = random() < 0.2 ? 999n : BigInt(Math.floor(60 + random() ** 2 * 1_140));
  const worth = (funds * share) / 1_000n;
  const wanted = side === "BUY" ? (worth * SCALE) / (limit ?? stop ?? middle) : worth;
  const quantity = (random() < 0.95 ? wanted - (wanted % STEP) : wanted) as Quantity;
  const isByQuote = orderType === "MARKET" && side === "BUY" && random() < 0.4;
  return {
    type: "PlaceOrder",
    symbol,
    side,
    orderType,
    size: isByQuote ? { quoteQuantity: worth as Amount } : { quantity },
    price: limit,
    stopPrice: stop,
    clientOrderId: clientId,
  };
}
