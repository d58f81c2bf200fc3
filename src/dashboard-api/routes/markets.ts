// What charts need of the market: which symbols there are, and their candles.
import { z } from "zod";
import type { StrategyType } from "../../domain/account.ts";
import type { MarketFeed } from "../../market/client/feed.ts";
import { readKlines } from "../../market/client/symbols/kline.ts";
import { TIMEFRAMES } from "../../market/pairs.ts";
import { DashboardError } from "../errors.ts";
import { symbolText } from "../paging.ts";
import { type DashboardCall, route } from "../route.ts";
import { rows } from "../schemas/fields.ts";
import { candleSchema, symbolSchema } from "../schemas/markets.ts";

/** Candles of one answer. Source: reference exchange, section 5.5. */
const CANDLES_MAX = 1_000;
const CANDLES_DEFAULT = 500;
/** Candles of seconds there are of spot alone, and months are of no one length. */
const interval = z.enum(TIMEFRAMES).exclude(["1s", "1M"]);
const CANDLE_PATHS: { readonly [T in StrategyType]: string } = {
  SPOT: "/api/v3/klines",
  FUTURES: "/fapi/v1/klines",
};
const UPSTREAM_REFUSES = 400;

const count = z
  .string()
  .regex(/^[0-9]{1,4}$/, "is no whole number")
  .transform(Number)
  .pipe(z.number().min(1).max(CANDLES_MAX));
const time = z.string().regex(/^[0-9]{1,15}$/, "is no time in Unix ms");

export const MARKET_ROUTES = [
  route("GET /markets/:family/symbols", "SIGNED_IN", rows(symbolSchema), async (call) => ({
    body: { rows: symbolsOf(marketOf(call).market) },
  })),

  route("GET /markets/:family/candles", "SIGNED_IN", rows(candleSchema), {
    query: z.strictObject({
      symbol: symbolText,
      interval,
      endTime: time.optional(),
      limit: count.default(CANDLES_DEFAULT),
    }),
    async answer(call) {
      const { type, market } = marketOf(call);
      const { symbol, interval, endTime, limit } = call.query;
      if (market.rules(symbol) === null) {
        throw new DashboardError("BODY_UNFIT", { fields: { symbol: "is not listed" } });
      }
      const search = new URLSearchParams({ symbol, interval, limit: String(limit) });
      if (endTime !== undefined) search.set("endTime", endTime);
      const answer = await market.query(CANDLE_PATHS[type], search);
      const klines = readKlines(answer);
      if (klines === null) {
        if (!answer.unavailable && answer.status === UPSTREAM_REFUSES) throw new DashboardError("BODY_UNFIT");
        throw new DashboardError("BUSY");
      }
      const now = market.now();
      const rows = klines.map((kline) => ({
        ...kline,
        openTime: kline.startTime,
        isFinal: kline.closeTime < now,
      }));
      return { body: { rows } };
    },
  }),
];

function marketOf({ params, parts }: Pick<DashboardCall<unknown, unknown, "family">, "params" | "parts">): {
  readonly type: StrategyType;
  readonly market: MarketFeed;
} {
  const { family: type } = params;
  if (type !== "SPOT" && type !== "FUTURES") throw new DashboardError("NOT_FOUND");
  return { type, market: parts.gateway.markets[type] };
}

/** What can be traded now. */
function symbolsOf(market: MarketFeed): readonly z.output<typeof symbolSchema>[] {
  return [...market.exchangeInfo().symbols.keys()].flatMap((symbol) => {
    const rules = market.rules(symbol);
    if (rules === null || rules.status !== "TRADING") return [];
    const { baseAsset, quoteAsset, priceFilter, lotSize } = rules;
    return {
      symbol,
      baseAsset,
      quoteAsset,
      tickSize: priceFilter?.tickSize ?? 0n,
      stepSize: lotSize?.stepSize ?? 0n,
    };
  });
}
