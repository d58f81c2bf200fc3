/**
 * The simulated market's days, in closed form: no day depends on having computed another.
 * An asset's value varies around 1 as a sum of smooth noises of different periods; a pair's price is its base
 * price times the value of its base asset over that of its quote asset, so that crosses agree with their
 * dollar pairs at each day's close. A day opens where the day before closed. The prices of a market that
 * follows another are given. Only sums, products and quotients are used: they are exact to the bit on every
 * machine.
 */
import { derive, drawsFrom, fractionOf, seedOf } from "./hash.ts";
import { type Listing, volatilityOf } from "./listing.ts";
import { middleOf, type Prices } from "./prices.ts";
import { lotsPerTradeMin, type Span } from "./span.ts";

const octaves = [
  { periodDays: 1, weight: 0.5 },
  { periodDays: 3, weight: 0.7 },
  { periodDays: 10, weight: 1.2 },
  { periodDays: 30, weight: 2 },
  { periodDays: 100, weight: 3.2 },
  { periodDays: 300, weight: 4.4 },
] as const;

/** The prices of a symbol's days by their number since the Unix epoch. */
export function drawDays(seed: string, listing: Listing): (day: number) => Prices {
  const baseSeed = seedOf(`${seed}/asset/${listing.base}`);
  const quoteSeed = seedOf(`${seed}/asset/${listing.quote}`);
  const rangeSeed = seedOf(`${seed}/range/${listing.symbol}`);

  return (day) => {
    const open = closeOf(day - 1);
    const close = closeOf(day);
    const draw = drawsFrom(derive(rangeSeed, day));
    const reach = reachOf(listing, { open, close });
    const high = Math.max(open, close) + Math.round(reach * (0.1 + 0.9 * draw() * draw()));
    const low = Math.min(open, close) - Math.round(reach * (0.1 + 0.9 * draw() * draw()));
    return { open, high, low: Math.max(1, low), close };
  };

  function closeOf(day: number): number {
    const base = wander(baseSeed, volatilityOf(listing.base), day);
    const quote = wander(quoteSeed, volatilityOf(listing.quote), day);
    return Math.max(1, Math.round(listing.baseTicks * (base / quote)));
  }
}

/** A market's days by their number, with what is traded in them at the prices given. */
export function createDays(
  seed: string,
  listing: Listing,
  pricesOf: (day: number) => Prices,
): (day: number) => Span {
  const flowSeed = seedOf(`${seed}/days/${listing.seedName}`);

  return (day) => {
    const prices = pricesOf(day);
    const drawFlow = drawsFrom(derive(flowSeed, day));
    const moved = (prices.high - prices.low) / reachOf(listing, prices);
    const spareLots = listing.dailyLots * (0.6 + 0.8 * drawFlow()) + listing.dailyLots * moved * 0.1;
    const volume = lotsPerTradeMin * listing.tradesPerDay + Math.round(spareLots);
    const spareBuys = (volume - lotsPerTradeMin * listing.tradesPerDay) * (0.44 + 0.12 * drawFlow());
    const takerBuyVolume = listing.tradesPerDay + Math.floor(spareBuys);
    const quoteVolume = Math.round((middleOf(prices) * volume) / listing.quoteDivisor);
    return {
      ...prices,
      volume,
      takerBuyVolume,
      quoteVolume,
      takerBuyQuoteVolume: Math.round((quoteVolume * takerBuyVolume) / volume),
      tradeCount: listing.tradesPerDay,
      firstTradeId: (day - listing.listedDay) * listing.tradesPerDay + 1,
    };
  };
}

// How far a day may go beyond its open and close, in ticks.
function reachOf(listing: Listing, { open, close }: Pick<Prices, "open" | "close">): number {
  return (volatilityOf(listing.base) + volatilityOf(listing.quote)) * ((open + close) / 2);
}

// An asset's value relative to the dollar: within about twelve times its daily volatility either way.
function wander(seed: number, volatility: number, day: number): number {
  let noise = 0;
  for (const { periodDays, weight } of octaves) {
    const octaveSeed = derive(seed, periodDays);
    const left = Math.floor(day / periodDays);
    const into = day / periodDays - left;
    const smooth = into * into * (3 - 2 * into);
    const a = signed(derive(octaveSeed, left));
    const b = signed(derive(octaveSeed, left + 1));
    noise += weight * (a + (b - a) * smooth);
  }
  const part = noise * volatility;
  return part >= 0 ? 1 + part : 1 / (1 - part);
}

function signed(seed: number): number {
  return fractionOf(seed) * 2 - 1;
}
