// What a futures trader does: it holds a position, mostly, and goes in and out of it at the market's price
// and at limits, with legs that wait where the other market lies. Some trade at so high a leverage that the
// other market liquidates them; those of the others see their legs fire.

import type { Prices } from "../harness/markets.ts";
import { priceOf } from "../harness/ticks.ts";
import { between, drawTimeInForce, far, isDear, type Limit, near, taking, ticksBetween } from "./limits.ts";
import type { Acknowledged, Trader } from "./trader.ts";

/** Of every other trader. */
const LEVERAGES = { low: "3", high: "50" };
/** Resting orders and legs that a trader keeps, about; with more it cancels. */
const RESTING_MAX = 10;
/** Coins, worth some ten dollars; a large order is more than many a level of the book has. */
const QUANTITY_MIN = 120;
const QUANTITY_SPAN = 120;
const LARGE_QUANTITY_SPANS = { low: 20_000, high: 90_000 };
/** How many of the orders under `strict` are large: they are soon more than the margin allows. */
const LARGE_SHARE = 0.4;

export async function actOnFutures(trader: Trader, url: string, prices: Prices): Promise<Acknowledged> {
  const draw = () => trader.draw();
  const resting = trader.resting();
  const kind = draw();
  if (resting.length > RESTING_MAX || kind > 0.92) {
    const chosen = resting[Math.floor(draw() * resting.length)];
    if (chosen !== undefined && draw() < 0.8) return await trader.cancel(url, chosen);
    return await trader.cancelAll(url);
  }
  const side = draw() < 0.5 ? "BUY" : "SELL";
  if (trader.placements.size > 0 && kind < 0.3)
    return await trader.placeLeg(url, legTerms(side, prices, draw));
  const isLarge = trader.profile === "strict" && draw() < LARGE_SHARE;
  const span = isLarge ? LARGE_QUANTITY_SPANS[isBold(trader) ? "high" : "low"] : QUANTITY_SPAN;
  const quantity = String(QUANTITY_MIN + Math.floor(draw() * span));
  const leverage = isBold(trader) ? LEVERAGES.high : LEVERAGES.low;
  if (trader.placements.size === 0 || kind < 0.55) {
    const isReduction = draw() < 0.2;
    return await trader.place(url, {
      ...{ side, type: "MARKET", quantity },
      ...(isReduction ? { reduceOnly: "true" } : { leverage }),
    });
  }
  const limit = drawLimit(trader, side, prices);
  return await trader.place(url, {
    ...{ type: "LIMIT", timeInForce: drawTimeInForce(trader), quantity },
    ...{ side: limit.side, price: priceOf(limit.ticks) },
    ...(draw() < 0.3 ? attachedTerms(limit) : {}),
  });
}

/** Whether a trader is one of those that the other market liquidates. */
function isBold({ name }: Trader): boolean {
  return Number(name.slice(1)) % 2 === 1;
}

function drawLimit({ profile, draw }: Trader, side: Limit["side"], prices: Prices): Limit {
  const kind = draw();
  if (profile === "strict" && kind < 0.3) return taking(side, prices);
  return kind < 0.5 ? between(prices, draw) : kind < 0.8 ? near(side, prices, draw) : far(side, prices);
}

/** A leg that waits between the two markets: of a position on its other side. */
function legTerms(side: Limit["side"], prices: Prices, draw: () => number) {
  const waitsForFall = isDear(prices);
  const type = waitsForFall === (side === "SELL") ? "STOP_MARKET" : "TAKE_PROFIT_MARKET";
  return { side, type, stopPrice: priceOf(ticksBetween(prices, draw)) };
}

/** Legs that an entry brings with it: both far away. */
function attachedTerms({ side, ticks }: Limit) {
  const [above, below] = [priceOf(Math.round(ticks * 1.3)), priceOf(Math.round(ticks * 0.75))];
  return side === "BUY"
    ? { takeProfitPrice: above, stopLossPrice: below }
    : { takeProfitPrice: below, stopLossPrice: above };
}
