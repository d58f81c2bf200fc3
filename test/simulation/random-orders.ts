// What the walk places: orders of every type near the market, now and then too large, off the step or on the wrong side of
// it.
import type { Account } from "../../src/domain/account.ts";
import type { PlaceOrder } from "../../src/domain/command.ts";
import { isStopType, type Side, SPOT_ORDER_TYPES } from "../../src/domain/order.ts";
import type { Amount, Price, Quantity } from "../../src/money/decimal.ts";
import { freeOf } from "../../src/money/posting.ts";
import { TICK } from "./random-market.ts";

/** Units of 1e-8 in one. */
const ONE = 100_000_000n;
/** The step of every lot, in units of 1e-8. */
const STEP = 1_000n;
const BASIS_POINTS = 10_000n;

/** A placement that follows from the numbers drawn alone. `middle` is where the symbol's prices lie. */
export function randomOrder(
  random: () => number,
  account: Account,
  { symbol, middle, clientOrderId }: { symbol: string; middle: bigint; clientOrderId: string },
): PlaceOrder {
  const base = freeOf(account.balances, symbol.replace(/USDT$/, ""));
  // Nobody sells what he does not hold, or hardly ever.
  const side: Side = random() < (base > 0n ? 0.5 : 0.95) ? "BUY" : "SELL";
  const orderType = SPOT_ORDER_TYPES[Math.floor(random() * SPOT_ORDER_TYPES.length)] ?? "LIMIT";
  const isLimit = orderType === "LIMIT" || orderType === "STOP_LOSS_LIMIT";
  const away = side === "BUY" ? 1 : -1;
  // A limit waits for a better price, a stop for a worse one; some of each are on the other side of the market.
  const stop = isStopType(orderType) ? near(middle, away * (random() * 200 - 30)) : null;
  const onTick = isLimit ? near(stop ?? middle, away * (random() * 150 - 100)) : null;
  const limit = onTick !== null && random() < 0.03 ? ((onTick + 1n) as Price) : onTick;

  const funds = side === "BUY" ? freeOf(account.balances, "USDT") : base;
  // Mostly small, so that several stand beside each other; at times all there is, so that a leap makes it too little.
  const share = random() < 0.2 ? 999n : BigInt(Math.floor(60 + random() ** 2 * 1_140));
  const worth = (funds * share) / 1_000n;
  const wanted = side === "BUY" ? (worth * ONE) / (limit ?? stop ?? middle) : worth;
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
    clientOrderId,
  };
}

/** A price on the tick, so many basis points from another. */
function near(price: bigint, basisPoints: number): Price {
  const moved = (price * (BASIS_POINTS + BigInt(Math.round(basisPoints)))) / BASIS_POINTS;
  return ((moved / TICK) * TICK) as Price;
}
