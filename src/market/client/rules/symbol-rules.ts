// Reads a row of the spot `exchangeInfo` into the rules that orders are checked against.
//
// A row that cannot be understood gives a reason instead of rules: a wrong rule would let a wrong order pass.
// Keys that are not known are ignored. Source: reference exchange, sections 6.1 to 6.3.
import type { NotionalFilter, PercentPrice, ReferencePrice, SymbolRules } from "../../../domain/symbol.ts";
import { type Amount, type Quantity, type Rate, ZERO } from "../../../money/decimal.ts";
import {
  countIn,
  decimalIn,
  filtersByType,
  flagIn,
  type JsonObject,
  objectIn,
  optional,
  type ParsedRules,
  parsedOf,
  readCommon,
} from "./rules-row.ts";

export function parseSymbolRules(row: unknown): ParsedRules {
  return parsedOf(() => ({ rules: read(objectIn(row, "row")) }));
}

function read(row: JsonObject): SymbolRules {
  const filters = filtersByType(row.filters);
  return {
    ...readCommon(row, filters),
    // Bodies from before the key existed have no pair that is closed to spot trading.
    isSpotTradingAllowed: row.isSpotTradingAllowed === undefined || flagIn(row, "isSpotTradingAllowed"),
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
    contract: null,
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
