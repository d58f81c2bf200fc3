// What a spot trader does: it buys once, and from then on goes in and out, at the market's price and at
// limits. Under `strict` some of its orders are larger than a level of the book, and limits have every time
// in force.

import type { Prices } from "../harness/markets.ts";
import { priceOf } from "../harness/ticks.ts";
import { between, drawTimeInForce, far, type Limit, near, taking } from "./limits.ts";
import type { Acknowledged, Trader } from "./trader.ts";

/** Resting orders that a trader keeps, about; with more it cancels. */
const RESTING_MAX = 14;

export async function actOnSpot(trader: Trader, url: string, prices: Prices): Promise<Acknowledged> {
  const draw = () => trader.draw();
  const isStrict = trader.profile === "strict";
  if (trader.placements.size === 0) {
    const quantity = isStrict ? "1500" : "900";
    return await trader.place(url, { side: "BUY", type: "MARKET", quantity });
  }
  const resting = trader.resting();
  const kind = draw();
  if (resting.length > RESTING_MAX || kind > 0.9) {
    const chosen = resting[Math.floor(draw() * resting.length)];
    if (chosen !== undefined && draw() < 0.9) return await trader.cancel(url, chosen);
    return await trader.cancelAll(url);
  }
  const quantity = String(40 + Math.floor(draw() * 40));
  const side = draw() < 0.5 ? "BUY" : "SELL";
  if (isStrict && kind < 0.3) return await takeMuch(trader, url, taking(side, prices));
  if (kind < 0.3) return await trader.place(url, { side, type: "MARKET", quantity });
  const limit =
    kind < 0.6 ? between(prices, draw) : kind < 0.8 ? near(side, prices, draw) : far(side, prices);
  return await placeLimit(trader, url, { quantity, side: limit.side, price: priceOf(limit.ticks) });
}

/**
 * As much as there is money for, which may be more than the book has: at the market's price, or at a limit.
 */
async function takeMuch(trader: Trader, url: string, { side, ticks }: Limit): Promise<Acknowledged> {
  const quantity = String(500 + Math.floor(trader.draw() * 1_000));
  if (trader.draw() < 0.3) return await trader.place(url, { side, type: "MARKET", quantity });
  return await placeLimit(trader, url, { quantity, side, price: priceOf(ticks) });
}

async function placeLimit(
  trader: Trader,
  url: string,
  terms: Readonly<Record<"quantity" | "side" | "price", string>>,
): Promise<Acknowledged> {
  const timeInForce = drawTimeInForce(trader);
  if (timeInForce === "GTX") return await trader.place(url, { type: "LIMIT_MAKER", ...terms });
  return await trader.place(url, { type: "LIMIT", timeInForce, ...terms });
}
