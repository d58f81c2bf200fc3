// Reads a row of the futures `exchangeInfo` into the rules that orders are checked against. Source: reference
// exchange, sections 10.1 and 10.2.
//
// Ours are perpetual contracts quoted and margined in USDT; all others are left out, and so is a contract
// without brackets. Keys that are not known are ignored.
import type { Bracket, NotionalFilter, PercentPrice, SymbolRules } from "../../../domain/symbol.ts";
import { type Amount, type Rate, ZERO } from "../../../money/decimal.ts";
import type { BracketTable } from "../../brackets/table.ts";
import {
  countIn,
  decimalIn,
  filtersByType,
  type JsonObject,
  objectIn,
  optional,
  type ParsedRules,
  parsedOf,
  readCommon,
  textIn,
} from "./rules-row.ts";

/** Open legs on a symbol where the exchange does not say how many it takes. Source: design, section 6. */
export const maxNumAlgoOrdersDefault = 10;

const perpetualTypes: ReadonlySet<unknown> = new Set(["PERPETUAL", "TRADIFI_PERPETUAL"]);
const marginAsset = "USDT";

export function parseContractRules(row: unknown, brackets: BracketTable): ParsedRules {
  return parsedOf(() => {
    const contract = objectIn(row, "row");
    if (!isOurs(contract)) return { leftOut: "OTHER_MARKET" };
    const ofSymbol = brackets.get(textIn(contract, "symbol"));
    return ofSymbol === undefined ? { leftOut: "NO_BRACKETS" } : { rules: read(contract, ofSymbol) };
  });
}

function isOurs(row: JsonObject): boolean {
  return (
    perpetualTypes.has(row.contractType) && row.quoteAsset === marginAsset && row.marginAsset === marginAsset
  );
}

function read(row: JsonObject, brackets: readonly Bracket[]): SymbolRules {
  const filters = filtersByType(row.filters);
  return {
    ...readCommon(row, filters),
    isSpotTradingAllowed: false,
    notional: optional(filters.get("MIN_NOTIONAL"), readNotional),
    percentPrice: optional(filters.get("PERCENT_PRICE"), readPercentPrice),
    percentPriceBySide: null,
    maxPosition: null,
    maxNumOrders: optional(filters.get("MAX_NUM_ORDERS"), readLimit),
    maxNumAlgoOrders: optional(filters.get("MAX_NUM_ALGO_ORDERS"), readLimit) ?? maxNumAlgoOrdersDefault,
    contract: {
      marginAsset,
      pricePrecision: countIn(row, "pricePrecision"),
      quantityPrecision: countIn(row, "quantityPrecision"),
      liquidationFee: decimalIn<Rate>(row, "liquidationFee"),
      marketTakeBound: decimalIn<Rate>(row, "marketTakeBound"),
      ...("triggerProtect" in row && { triggerProtect: decimalIn<Rate>(row, "triggerProtect") }),
      brackets,
    },
  };
}

/** Applies to every order, at the mark price if it has no price of its own; there is no maximum. */
function readNotional(filter: JsonObject): NotionalFilter {
  return {
    minNotional: decimalIn<Amount>(filter, "notional"),
    maxNotional: ZERO,
    appliesMinToMarket: true,
    appliesMaxToMarket: false,
    reference: "MARK",
  };
}

/** One-sided: a buyer's price may not be too high, a seller's not too low. */
function readPercentPrice(filter: JsonObject): PercentPrice {
  return {
    buy: { up: decimalIn<Rate>(filter, "multiplierUp"), down: ZERO },
    sell: { up: ZERO, down: decimalIn<Rate>(filter, "multiplierDown") },
    reference: "MARK",
  };
}

function readLimit(filter: JsonObject): number {
  return countIn(filter, "limit");
}
