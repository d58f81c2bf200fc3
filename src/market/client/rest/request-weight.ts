// Weights of requests for public market data: for our clients, and for us upstream. Source: reference
// exchange, section 5 (spot) and section 9 (futures).

/** The weights of the spot paths whose weight does not depend on parameters. */
export const fixedWeights = {
  "/api/v3/ping": 1,
  "/api/v3/time": 1,
  "/api/v3/trades": 25,
  "/api/v3/historicalTrades": 25,
  "/api/v3/aggTrades": 4,
  "/api/v3/klines": 2,
  "/api/v3/uiKlines": 2,
  "/api/v3/avgPrice": 2,
} as const;

/**
 * The same for futures. The exchange counts funding routes in a pool of their own with weight 0; we charge
 * our clients 1.
 */
export const fixedFuturesWeights = {
  "/fapi/v1/ping": 1,
  "/fapi/v1/time": 1,
  "/fapi/v1/exchangeInfo": 1,
  "/fapi/v1/trades": 5,
  "/fapi/v1/historicalTrades": 20,
  "/fapi/v1/aggTrades": 20,
  "/fapi/v1/openInterest": 1,
  "/fapi/v1/fundingRate": 1,
  "/fapi/v1/fundingInfo": 1,
} as const;

/** The futures paths that cost less of one symbol than of all. */
export const futuresTickerWeights = {
  "/fapi/v1/premiumIndex": { ofOne: 1, ofAll: 10 },
  "/fapi/v1/ticker/24hr": { ofOne: 1, ofAll: 40 },
  "/fapi/v1/ticker/price": { ofOne: 1, ofAll: 2 },
  "/fapi/v2/ticker/price": { ofOne: 1, ofAll: 2 },
  "/fapi/v1/ticker/bookTicker": { ofOne: 2, ofAll: 5 },
} as const;

/** The futures paths of candles, of whatever price. */
export const futuresCandlePaths = [
  "/fapi/v1/klines",
  "/fapi/v1/continuousKlines",
  "/fapi/v1/markPriceKlines",
  "/fapi/v1/indexPriceKlines",
  "/fapi/v1/premiumIndexKlines",
] as const;

/** Default number of book levels. */
const depthLevelsDefault = 100;
const futuresDepthLevelsDefault = 500;
/** Default number of candles. */
const futuresCandlesDefault = 500;

/**
 * `/api/v3/depth`, by the text of its `limit`, null if there is none. What is no number weighs as the deepest
 * book.
 */
export function depthWeight(limit: string | null): number {
  const levels = Number(limit ?? depthLevelsDefault);
  if (levels <= 100) return 5;
  if (levels <= 500) return 25;
  return levels <= 1_000 ? 50 : 250;
}

/** `/fapi/v1/depth`, in the same way. */
export function futuresDepthWeight(limit: string | null): number {
  const levels = Number(limit ?? futuresDepthLevelsDefault);
  if (levels <= 50) return 2;
  if (levels <= 100) return 5;
  return levels <= 500 ? 10 : 20;
}

/**
 * Futures candles, by the text of their `limit`, null if there is none. What is no number weighs as the most.
 */
export function futuresCandlesWeight(limit: string | null): number {
  const candles = Number(limit ?? futuresCandlesDefault);
  if (candles < 100) return 1;
  if (candles < 500) return 2;
  return candles <= 1_000 ? 5 : 10;
}

/** `/api/v3/ticker/price` and `/api/v3/ticker/bookTicker`, of one symbol or of several. */
export function tickerWeight(isOfOneSymbol: boolean): number {
  return isOfOneSymbol ? 2 : 4;
}

/** `/api/v3/ticker/24hr`, by the number of its symbols, null for all. */
export function dayTickerWeight(symbolCount: number | null): number {
  if (symbolCount === null || symbolCount > 100) return 80;
  return symbolCount <= 20 ? 2 : 40;
}
