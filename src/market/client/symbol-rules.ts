// Reads a row of the spot `exchangeInfo` into the rules that orders are checked against.
//
// A row that cannot be understood gives a reason instead of rules: a wrong rule would let a wrong order pass. Keys that
// are not known are ignored. Source: reference exchange, sections 6.1 to 6.3.
import type {
  LotSize,
  NotionalFilter,
  PercentPrice,
  PriceFilter,
  ReferencePrice,
  SymbolRules,
} from "../../domain/symbol.ts";
import { type Amount, parseDecimal, type Quantity, type Rate, ZERO } from "../../money/decimal.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

/** The rules of one row, or in `fault` what is wrong with it. */
export type ParsedRules = { readonly rules: SymbolRules } | { readonly fault: string };

class RowFault extends Error {}

export function parseSymbolRules(row: unknown): ParsedRules {
  try {
    return { rules: read(objectIn(row, "row")) };
  } catch (error) {
    if (error instanceof RowFault) return { fault: error.message };
    throw error;
  }
}

function read(row: JsonObject): SymbolRules {
  const filters = filtersByType(row.filters);
  return {
    symbol: textIn(row, "symbol"),
    status: textIn(row, "status"),
    baseAsset: textIn(row, "baseAsset"),
    quoteAsset: textIn(row, "quoteAsset"),
    orderTypes: textsIn(row.orderTypes, "orderTypes"),
    // Bodies from before the key existed have no pair that is closed to spot trading.
    isSpotTradingAllowed: row.isSpotTradingAllowed === undefined || flagIn(row, "isSpotTradingAllowed"),
    priceFilter: optional(filters.get("PRICE_FILTER"), readPriceFilter),
    lotSize: optional(filters.get("LOT_SIZE"), readLotSize),
    marketLotSize: optional(filters.get("MARKET_LOT_SIZE"), readLotSize),
    notional:
      optional(filters.get("NOTIONAL"), readNotional) ??
      optional(filters.get("MIN_NOTIONAL"), readMinNotional),
    percentPrice: optional(filters.get("PERCENT_PRICE"), readPercentPrice),
    percentPriceBySide: optional(filters.get("PERCENT_PRICE_BY_SIDE"), readPercentPriceBySide),
    maxPosition: optional(filters.get("MAX_POSITION"), (filter) =>
      decimalIn<Quantity>(filter, "maxPosition"),
    ),
    maxNumOrders: optional(filters.get("MAX_NUM_ORDERS"), (filter) => countIn(filter, "maxNumOrders")),
    maxNumAlgoOrders: optional(filters.get("MAX_NUM_ALGO_ORDERS"), (filter) =>
      countIn(filter, "maxNumAlgoOrders"),
    ),
  };
}

function readPriceFilter(filter: JsonObject): PriceFilter {
  return {
    minPrice: decimalIn(filter, "minPrice"),
    maxPrice: decimalIn(filter, "maxPrice"),
    tickSize: decimalIn(filter, "tickSize"),
  };
}

function readLotSize(filter: JsonObject): LotSize {
  return {
    minQuantity: decimalIn<Quantity>(filter, "minQty"),
    maxQuantity: decimalIn<Quantity>(filter, "maxQty"),
    stepSize: decimalIn<Quantity>(filter, "stepSize"),
  };
}

function readNotional(filter: JsonObject): NotionalFilter {
  return {
    minNotional: decimalIn<Amount>(filter, "minNotional"),
    maxNotional: decimalIn<Amount>(filter, "maxNotional"),
    appliesMinToMarket: flagIn(filter, "applyMinToMarket"),
    appliesMaxToMarket: flagIn(filter, "applyMaxToMarket"),
    reference: readReference(filter),
  };
}

/** The filter that NOTIONAL replaced: it knows no maximum. */
function readMinNotional(filter: JsonObject): NotionalFilter {
  return {
    minNotional: decimalIn<Amount>(filter, "minNotional"),
    maxNotional: ZERO,
    appliesMinToMarket: flagIn(filter, "applyToMarket"),
    appliesMaxToMarket: false,
    reference: readReference(filter),
  };
}

function readPercentPrice(filter: JsonObject): PercentPrice {
  const up = decimalIn<Rate>(filter, "multiplierUp");
  const down = decimalIn<Rate>(filter, "multiplierDown");
  return { buy: { up, down }, sell: { up, down }, reference: readReference(filter) };
}

function readPercentPriceBySide(filter: JsonObject): PercentPrice {
  return {
    buy: {
      up: decimalIn<Rate>(filter, "bidMultiplierUp"),
      down: decimalIn<Rate>(filter, "bidMultiplierDown"),
    },
    sell: {
      up: decimalIn<Rate>(filter, "askMultiplierUp"),
      down: decimalIn<Rate>(filter, "askMultiplierDown"),
    },
    reference: readReference(filter),
  };
}

/** Zero minutes mean the last price. Source: reference exchange, section 6.3. */
function readReference(filter: JsonObject): ReferencePrice {
  return filter.avgPriceMins === 0 ? "LAST" : "AVERAGE";
}

function filtersByType(filters: unknown): ReadonlyMap<string, JsonObject> {
  if (!Array.isArray(filters)) throw new RowFault("filters is no list");
  const byType = new Map<string, JsonObject>();
  for (const item of filters) {
    const filter = objectIn(item, "filter");
    byType.set(textIn(filter, "filterType"), filter);
  }
  return byType;
}

function optional<Read>(filter: JsonObject | undefined, reader: (filter: JsonObject) => Read): Read | null {
  return filter === undefined ? null : reader(filter);
}

function decimalIn<D extends bigint>(from: JsonObject, key: string): D {
  const text = from[key];
  const value = typeof text === "string" ? parseDecimal(text) : "NOT_A_DECIMAL";
  if (typeof value === "string") throw new RowFault(`${key} is ${value}: ${JSON.stringify(text)}`);
  return value as D;
}

function countIn(from: JsonObject, key: string): number {
  const value = from[key];
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw new RowFault(`${key} is no count`);
  return value as number;
}

function textIn(from: JsonObject, key: string): string {
  const value = from[key];
  if (typeof value !== "string" || value === "") throw new RowFault(`${key} is no text`);
  return value;
}

function textsIn(value: unknown, key: string): readonly string[] {
  if (!Array.isArray(value)) throw new RowFault(`${key} is no list`);
  return value.map((item: unknown) => {
    if (typeof item !== "string") throw new RowFault(`${key} holds something that is no text`);
    return item;
  });
}

function flagIn(from: JsonObject, key: string): boolean {
  const value = from[key];
  if (typeof value !== "boolean") throw new RowFault(`${key} is neither true nor false`);
  return value;
}

function objectIn(value: unknown, key: string): JsonObject {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new RowFault(`${key} is no object`);
  return value as JsonObject;
}
