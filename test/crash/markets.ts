// Two simulated markets, a dear one and a cheap one: limits between the two rest in one and are reached by starting the
// gateway on the other.
import { openSimulatedExchange } from "../../src/market/simulated/open.ts";
import { send } from "../support/signed-client.ts";
import { patiently } from "./patience.ts";
import { SYMBOL, ticksOf } from "./trader.ts";

export type Quote = { readonly bid: number; readonly ask: number };
export type SimulatedMarket = Quote & { readonly seed: number };
export type MarketPair = { readonly cheap: SimulatedMarket; readonly dear: SimulatedMarket };

/** Simulated markets to choose the dear and the cheap one from. */
const MARKETS = 8;
const DISTANCE_MIN = 1.04;

/** The dearest and the cheapest of a few simulated markets, now. */
export async function chooseMarkets(): Promise<MarketPair> {
  const markets = await Promise.all(Array.from({ length: MARKETS }, (_, index) => lookAt(index + 1)));
  markets.sort((left, right) => left.bid - right.bid);
  const [cheap] = markets;
  const dear = markets.at(-1);
  if (cheap === undefined || dear === undefined || dear.bid < cheap.ask * DISTANCE_MIN) {
    throw new Error(`the simulated markets lie too close together: ${JSON.stringify(markets)}`);
  }
  return { cheap, dear };
}

/** The best prices of a gateway, or of an exchange, in ticks. */
export async function quoteOf(url: string): Promise<Quote> {
  const { body } = await patiently(() => send(url, "GET", `/api/v3/ticker/bookTicker?symbol=${SYMBOL}`));
  return { bid: ticksOf(body.bidPrice), ask: ticksOf(body.askPrice) };
}

async function lookAt(seed: number): Promise<SimulatedMarket> {
  const exchange = await openSimulatedExchange({ seed });
  try {
    return { seed, ...(await quoteOf(exchange.spotRestUrl)) };
  } finally {
    await exchange.close();
  }
}
