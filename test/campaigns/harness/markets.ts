// Two simulated markets, a dear one and a cheap one: limits between the two rest in one and are reached by
// starting the gateway on the other.
import type { StrategyType } from "../../../src/domain/account.ts";
import { openSimulatedExchange } from "../../../src/market/simulated/open.ts";
import { send } from "../../support/signed-client.ts";
import { patiently } from "./patience.ts";
import { PATHS } from "./routes.ts";
import { SYMBOL, ticksOf } from "./ticks.ts";

export type Quote = { readonly bid: number; readonly ask: number };
/** Of the pair and of the contract, which follows it. */
export type Quotes = { readonly [T in StrategyType]: Quote };
export type SimulatedMarket = Quotes & { readonly seed: number };
export type MarketPair = { readonly cheap: SimulatedMarket; readonly dear: SimulatedMarket };

/** Where a trader may place its orders, in ticks. */
export type Prices = {
  readonly bid: number;
  readonly ask: number;
  /**
   * The cheap market's ask and the dear market's bid: a limit well between them is reached by changing the
   * market.
   */
  readonly cheapAsk: number;
  readonly dearBid: number;
};

/** Of both types. */
export type AllPrices = { readonly [T in StrategyType]: Prices };

/** Simulated markets to choose the dear and the cheap one from. */
const MARKETS = 8;
const DISTANCE_MIN = 1.04;
const QUESTIONS_PER_ADDRESS = 100;

/** The environment of a gateway that trusts the client address in the proxy header. */
export const HEEDS_ADDRESSES = { TRUSTED_PROXY_HOPS: "1" } as const;

/** The dearest and the cheapest of a few simulated markets, now. */
export async function chooseMarkets(): Promise<MarketPair> {
  const markets = await Promise.all(Array.from({ length: MARKETS }, (_, index) => lookAt(index + 1)));
  markets.sort((left, right) => left.SPOT.bid - right.SPOT.bid);
  const [cheap] = markets;
  const dear = markets.at(-1);
  if (cheap === undefined || dear === undefined || dear.SPOT.bid < cheap.SPOT.ask * DISTANCE_MIN) {
    throw new Error(`the simulated markets lie too close together: ${JSON.stringify(markets)}`);
  }
  return { cheap, dear };
}

/** The best prices of a gateway, or of an exchange, in ticks. */
export async function quotesOf(url: string): Promise<Quotes> {
  return { SPOT: await quoteOf(url, "SPOT"), FUTURES: await quoteOf(url, "FUTURES") };
}

async function quoteOf(url: string, type: StrategyType): Promise<Quote> {
  const { bidPrice, askPrice } = await ask(url, PATHS[type].bookTicker);
  return { bid: ticksOf(bidPrice), ask: ticksOf(askPrice) };
}

/** The mark price of a gateway's contract, in ticks. */
export async function markOf(url: string): Promise<number> {
  const { markPrice } = await ask(url, "/fapi/v1/premiumIndex");
  return ticksOf(markPrice);
}

/** How many questions have been asked of all markets. */
let asked = 0;

/**
 * Asks under an address that changes, for a gateway that heeds it: what one address may ask in a minute is
 * soon used up.
 */
async function ask(url: string, path: string) {
  asked += 1;
  const number = Math.floor(asked / QUESTIONS_PER_ADDRESS);
  const headers = { "x-forwarded-for": `10.0.${(number >> 8) & 255}.${number & 255}` };
  const { status, body } = await patiently(() => send(url, "GET", `${path}?symbol=${SYMBOL}`, { headers }));
  if (status !== 200) throw new Error(`${path} answered ${status}: ${JSON.stringify(body)}`);
  return body;
}

/** Where traders may place their orders, at present prices between two markets. */
export function pricesBetween(present: Quotes, { cheap, dear }: { cheap: Quotes; dear: Quotes }): AllPrices {
  const of = (type: StrategyType) => ({
    ...present[type],
    cheapAsk: cheap[type].ask,
    dearBid: dear[type].bid,
  });
  return { SPOT: of("SPOT"), FUTURES: of("FUTURES") };
}

async function lookAt(seed: number): Promise<SimulatedMarket> {
  const exchange = await openSimulatedExchange({ seed });
  try {
    return { seed, ...(await quotesOf(exchange.spotRestUrl)) };
  } finally {
    await exchange.close();
  }
}
