// What a request for public market data weighs: what it costs the client that asks us, and us when we ask upstream.
// Source: reference exchange, section 5.

/** The weights of the paths where it is the same whatever is asked for. */
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

/** How many levels of the book are shown to whoever does not say. */
const depthLevelsDefault = 100;

/** `/api/v3/depth`, by the text of its `limit`, null if there is none. What is no number weighs as the deepest book. */
export function depthWeight(limit: string | null): number {
  const levels = Number(limit ?? depthLevelsDefault);
  if (levels <= 100) return 5;
  if (levels <= 500) return 25;
  return levels <= 1_000 ? 50 : 250;
}

/** `/api/v3/ticker/price` and `/api/v3/ticker/bookTicker`, of one symbol or of several. */
export function tickerWeight(isOfOneSymbol: boolean): number {
  return isOfOneSymbol ? 2 : 4;
}

/** `/api/v3/ticker/24hr`, by the number of its symbols, null if it asks for all. */
export function dayTickerWeight(symbolCount: number | null): number {
  if (symbolCount === null || symbolCount > 100) return 80;
  return symbolCount <= 20 ? 2 : 40;
}
