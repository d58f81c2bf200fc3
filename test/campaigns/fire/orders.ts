// The orders of signals under fire: at the market's price, at limits near and far, stops, and some that can
// never be taken.
import { priceOf, SYMBOL } from "../harness/ticks.ts";

export type Body = Readonly<Record<string, string | number>>;

export type DrawnOrder = {
  readonly body: Body;
  /** Whether no market and no balance can make it be taken. */
  readonly isHopeless: boolean;
};

/** Best prices in ticks, as they stood when the run began: the simulated market wanders slowly. */
export type Touch = { readonly bid: number; readonly ask: number };

type Draw = () => number;

/** Coins, worth some five to ten dollars of the two hundred there are. */
const QUANTITY_MIN = 60;
const QUANTITY_SPAN = 60;
/** A limit near the market lies this many ticks from its best price at most, on either side. */
const NEAR_TICKS = 4;
/** More than any strategy could pay for. */
const FORTUNE = "8000000";
const HOPELESS_CHANCE = 0.15;

/** Draws what a bot submits; its first order buys what later ones sell. */
export function drawOrder(draw: Draw, touch: Touch, isFirst: boolean): DrawnOrder {
  if (isFirst) return takes({ tradeType: "BUY", orderType: "MARKET", quantity: String(2 * QUANTITY_MIN) });
  if (draw() < HOPELESS_CHANCE) return drawHopeless(draw, touch);
  const tradeType = draw() < 0.5 ? "BUY" : "SELL";
  const isBuy = tradeType === "BUY";
  const coins = QUANTITY_MIN + Math.floor(draw() * QUANTITY_SPAN);
  // A JSON number means the same as the text of it.
  const quantity = draw() < 0.3 ? coins : String(coins);
  const kind = draw();
  if (kind < 0.3) return takes({ tradeType, orderType: "MARKET", quantity });
  if (kind < 0.35) return takes({ tradeType, quantity });
  if (kind < 0.4) return takes({ tradeType: "BUY", orderType: "MARKET", quoteOrderQty: "6.5" });
  if (kind < 0.65) {
    const away = Math.floor((2 * draw() - 1) * NEAR_TICKS);
    const price = priceOf((isBuy ? touch.bid : touch.ask) + away);
    return takes({ tradeType, orderType: "LIMIT", quantity, price });
  }
  if (kind < 0.82) {
    const price = priceOf(Math.round(isBuy ? touch.bid * 0.6 : touch.ask * 1.5));
    return takes({ tradeType, orderType: "LIMIT", quantity, price });
  }
  const stopPrice = priceOf(Math.round(isBuy ? touch.ask * 1.3 : touch.bid * 0.7));
  if (kind < 0.92) return takes({ tradeType, orderType: "STOP_LOSS", quantity, stopPrice });
  return takes({ tradeType, orderType: "STOP_LOSS_LIMIT", quantity, stopPrice, price: stopPrice });
}

/** An order that can be taken whatever came before it, twenty times by one strategy. */
export function plainOrder(): DrawnOrder {
  return takes({ tradeType: "BUY", orderType: "MARKET", quoteOrderQty: "6.5" });
}

/** The same order but for one of its fields. */
export function otherThan(body: Body): Body {
  return { ...body, tradeType: body.tradeType === "BUY" ? "SELL" : "BUY" };
}

function drawHopeless(draw: Draw, { bid }: Touch): DrawnOrder {
  const far = priceOf(Math.round(bid * 0.6));
  const bodies: readonly Body[] = [
    // Between two steps, between two ticks, worth too little, too dear, of nothing that is listed.
    { orderType: "MARKET", quantity: "60.5" },
    { orderType: "LIMIT", quantity: "60", price: `${far}5` },
    { orderType: "LIMIT", quantity: "1", price: far },
    { orderType: "LIMIT", quantity: FORTUNE, price: far },
    { orderType: "MARKET", quantity: "60", symbol: "NOSUCHUSDT" },
  ];
  const body = bodies[Math.floor(draw() * bodies.length)];
  return { body: { symbol: SYMBOL, tradeType: "BUY", ...body }, isHopeless: true };
}

function takes(terms: Body): DrawnOrder {
  return { body: { symbol: SYMBOL, ...terms }, isHopeless: false };
}
