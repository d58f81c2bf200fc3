/** Bodies of `exchangeInfo` for the simulated listings (reference sections 6.1, 6.2 and 10.1). */
import { type PerpetualRow, perpetualRows } from "./listing-perpetual.ts";
import { type SpotRow, spotRows } from "./listing-spot.ts";

/** Spot body; rows of the symbols given, in that order of the listing, or all of them. */
export function spotExchangeInfo(at: number, symbols?: readonly string[]): object {
  return {
    timezone: "UTC",
    serverTime: at,
    rateLimits: [
      { rateLimitType: "REQUEST_WEIGHT", interval: "MINUTE", intervalNum: 1, limit: 6_000 },
      { rateLimitType: "ORDERS", interval: "SECOND", intervalNum: 10, limit: 100 },
      { rateLimitType: "ORDERS", interval: "DAY", intervalNum: 1, limit: 200_000 },
      { rateLimitType: "RAW_REQUESTS", interval: "MINUTE", intervalNum: 5, limit: 300_000 },
    ],
    exchangeFilters: [],
    symbols: spotRows.filter((row) => symbols?.includes(row.symbol) ?? true).map(spotSymbol),
  };
}

/** Futures body. MAX_NUM_ALGO_ORDERS is published here although the reference has dropped it. */
export function perpetualExchangeInfo(at: number, symbols?: readonly string[]): object {
  return {
    timezone: "UTC",
    serverTime: at,
    futuresType: "U_MARGINED",
    rateLimits: [
      { rateLimitType: "REQUEST_WEIGHT", interval: "MINUTE", intervalNum: 1, limit: 2_400 },
      { rateLimitType: "ORDERS", interval: "MINUTE", intervalNum: 1, limit: 1_200 },
      { rateLimitType: "ORDERS", interval: "SECOND", intervalNum: 10, limit: 300 },
    ],
    exchangeFilters: [],
    assets: [{ asset: "USDT", marginAvailable: true, autoAssetExchange: "-10000" }],
    symbols: perpetualRows.filter((row) => symbols?.includes(row.symbol) ?? true).map(perpetualSymbol),
  };
}

function spotSymbol(row: SpotRow): object {
  const tick = eightDigits(stepText(row.tickDecimals));
  const step = eightDigits(stepText(row.stepDecimals));
  const zero = eightDigits("0");
  return {
    symbol: row.symbol,
    status: "TRADING",
    baseAsset: row.base,
    baseAssetPrecision: 8,
    quoteAsset: row.quote,
    quotePrecision: 8,
    quoteAssetPrecision: 8,
    baseCommissionPrecision: 8,
    quoteCommissionPrecision: 8,
    orderTypes: [
      "LIMIT",
      "LIMIT_MAKER",
      "MARKET",
      "STOP_LOSS",
      "STOP_LOSS_LIMIT",
      "TAKE_PROFIT",
      "TAKE_PROFIT_LIMIT",
    ],
    icebergAllowed: true,
    ocoAllowed: true,
    otoAllowed: true,
    opoAllowed: true,
    quoteOrderQtyMarketAllowed: true,
    allowTrailingStop: true,
    cancelReplaceAllowed: true,
    amendAllowed: true,
    pegInstructionsAllowed: true,
    isSpotTradingAllowed: true,
    isMarginTradingAllowed: false,
    filters: [
      { filterType: "PRICE_FILTER", minPrice: tick, maxPrice: eightDigits(row.maxPrice), tickSize: tick },
      { filterType: "LOT_SIZE", minQty: step, maxQty: eightDigits(row.maxQuantity), stepSize: step },
      { filterType: "ICEBERG_PARTS", limit: 100 },
      {
        filterType: "MARKET_LOT_SIZE",
        minQty: zero,
        maxQty: eightDigits(row.marketMaxQuantity),
        stepSize: zero,
      },
      {
        filterType: "TRAILING_DELTA",
        minTrailingAboveDelta: 10,
        maxTrailingAboveDelta: 2_000,
        minTrailingBelowDelta: 10,
        maxTrailingBelowDelta: 2_000,
      },
      {
        filterType: "PERCENT_PRICE_BY_SIDE",
        bidMultiplierUp: row.multiplierUp,
        bidMultiplierDown: row.multiplierDown,
        askMultiplierUp: row.multiplierUp,
        askMultiplierDown: row.multiplierDown,
        avgPriceMins: 5,
      },
      {
        filterType: "NOTIONAL",
        minNotional: eightDigits(row.minNotional),
        applyMinToMarket: true,
        maxNotional: eightDigits("9000000"),
        applyMaxToMarket: false,
        avgPriceMins: 5,
      },
      { filterType: "MAX_NUM_ORDERS", maxNumOrders: 200 },
      { filterType: "MAX_NUM_ORDER_LISTS", maxNumOrderLists: 20 },
      { filterType: "MAX_NUM_ALGO_ORDERS", maxNumAlgoOrders: 5 },
      { filterType: "MAX_NUM_ORDER_AMENDS", maxNumOrderAmends: 10 },
    ],
    permissions: [],
    permissionSets: [["SPOT"]],
    defaultSelfTradePreventionMode: "EXPIRE_MAKER",
    allowedSelfTradePreventionModes: ["EXPIRE_TAKER", "EXPIRE_MAKER", "EXPIRE_BOTH", "DECREMENT", "TRANSFER"],
  };
}

function perpetualSymbol(row: PerpetualRow): object {
  const step = stepText(row.stepDecimals);
  const percent = Number(row.bound);
  return {
    symbol: row.symbol,
    pair: row.symbol,
    contractType: "PERPETUAL",
    deliveryDate: 4133404800000,
    onboardDate: row.onboardAt,
    status: "TRADING",
    maintMarginPercent: "2.5000",
    requiredMarginPercent: "5.0000",
    baseAsset: row.base,
    quoteAsset: row.quote,
    marginAsset: row.quote,
    pricePrecision: row.priceDigits,
    quantityPrecision: row.stepDecimals,
    baseAssetPrecision: 8,
    quotePrecision: 8,
    underlyingType: "COIN",
    underlyingSubType: [row.underlyingSubType],
    triggerProtect: percent.toFixed(4),
    liquidationFee: row.liquidationFee,
    marketTakeBound: row.bound,
    maxMoveOrderLimit: 10_000,
    filters: [
      {
        filterType: "PRICE_FILTER",
        minPrice: row.minPrice,
        maxPrice: row.maxPrice,
        tickSize: padded(stepText(row.tickDecimals), row.priceDigits),
      },
      { filterType: "LOT_SIZE", minQty: step, maxQty: row.maxQuantity, stepSize: step },
      { filterType: "MARKET_LOT_SIZE", minQty: step, maxQty: row.marketMaxQuantity, stepSize: step },
      { filterType: "MAX_NUM_ORDERS", limit: 200 },
      { filterType: "MAX_NUM_ALGO_ORDERS", limit: 10 },
      { filterType: "MIN_NOTIONAL", notional: row.minNotional },
      {
        filterType: "PERCENT_PRICE",
        multiplierUp: (1 + percent).toFixed(4),
        multiplierDown: (1 - percent).toFixed(4),
        multiplierDecimal: "4",
      },
      { filterType: "POSITION_RISK_CONTROL", positionControlSide: "NONE" },
    ],
    orderTypes: [
      "LIMIT",
      "MARKET",
      "STOP",
      "STOP_MARKET",
      "TAKE_PROFIT",
      "TAKE_PROFIT_MARKET",
      "TRAILING_STOP_MARKET",
    ],
    timeInForce: ["GTC", "IOC", "FOK", "GTX", "GTD"],
    permissionSets: ["GRID", "COPY", "DCA", "PSB"],
  };
}

// 10^-decimals as text.
function stepText(decimals: number): string {
  return decimals === 0 ? "1" : `0.${"1".padStart(decimals, "0")}`;
}

function eightDigits(text: string): string {
  return padded(text, 8);
}

function padded(text: string, digits: number): string {
  const [whole = "0", fraction = ""] = text.split(".");
  return digits === 0 ? whole : `${whole}.${fraction.padEnd(digits, "0")}`;
}
