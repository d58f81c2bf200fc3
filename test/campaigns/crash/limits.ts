// Where limits lie: between the two markets, near the present one, or far from both; and for how long they
// hold.
import type { FillProfileName } from "../../../src/domain/fill-profile.ts";
import type { Prices } from "../harness/markets.ts";

export type Limit = { readonly side: "BUY" | "SELL"; readonly ticks: number };
type Draw = () => number;

/** A limit that this market leaves alone and the other one goes through. */
export function between(prices: Prices, draw: Draw): Limit {
  return { side: isDear(prices) ? "BUY" : "SELL", ticks: ticksBetween(prices, draw) };
}

/** Well between the two markets. */
export function ticksBetween({ cheapAsk, dearBid }: Prices, draw: Draw): number {
  return Math.round(cheapAsk + (dearBid - cheapAsk) * (0.3 + 0.4 * draw()));
}

/** Whether what lies between the two markets is below the present one. */
export function isDear({ ask, cheapAsk, dearBid }: Prices): boolean {
  return ask > (cheapAsk + dearBid) / 2;
}

/** A limit that the moving market reaches within seconds, or at once. */
export function near(side: Limit["side"], { bid, ask }: Prices, draw: Draw): Limit {
  const distance = Math.floor(draw() * 4);
  return { side, ticks: side === "BUY" ? bid - distance : ask + distance };
}

/** A limit at the best price of the other side, where there may be too little. */
export function taking(side: Limit["side"], { bid, ask }: Prices): Limit {
  return { side, ticks: side === "BUY" ? ask : bid };
}

/** A limit that neither market reaches. */
export function far(side: Limit["side"], { cheapAsk, dearBid }: Prices): Limit {
  return { side, ticks: Math.round(side === "BUY" ? cheapAsk * 0.6 : dearBid * 1.5) };
}

/**
 * Under `standard` every order rests; `GTX`, which spot calls LIMIT_MAKER, is refused where it would take.
 */
export function drawTimeInForce({
  profile,
  draw,
}: {
  readonly profile: FillProfileName;
  readonly draw: Draw;
}) {
  if (profile === "standard") return "GTC";
  const drawn = draw();
  return drawn < 0.6 ? "GTC" : drawn < 0.8 ? "IOC" : drawn < 0.9 ? "GTX" : "FOK";
}
