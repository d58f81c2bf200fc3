// Shared parsing of the rows of `exchangeInfo` for both types: splitting a row, and the filters of price and
// lot. A malformed row ends in a RowFault.
import type { LotSize, PriceFilter, SymbolRules } from "../../../domain/symbol.ts";
import { parseDecimal, type Quantity } from "../../../money/decimal.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

/** The fault of a row. */
class RowFault extends Error {}

/**
 * The rules of one row; or in `fault` what is wrong with it; or why it is left out although nothing is: it is
 * no market of ours, or a contract without brackets, of which no margin can be computed.
 */
export type ParsedRules =
  | { readonly rules: SymbolRules }
  | { readonly fault: string }
  | { readonly leftOut: "OTHER_MARKET" | "NO_BRACKETS" };

/** The result of a reader for a row, its faults as values. */
export function parsedOf(read: () => ParsedRules): ParsedRules {
  try {
    return read();
  } catch (error) {
    if (error instanceof RowFault) return { fault: error.message };
    throw error;
  }
}

/** The rules that both types state alike. */
export function readCommon(row: JsonObject, filters: ReadonlyMap<string, JsonObject>) {
  return {
    symbol: textIn(row, "symbol"),
    status: textIn(row, "status"),
    baseAsset: textIn(row, "baseAsset"),
    quoteAsset: textIn(row, "quoteAsset"),
    orderTypes: textsIn(row.orderTypes, "orderTypes"),
    priceFilter: optional(filters.get("PRICE_FILTER"), readPriceFilter),
    lotSize: optional(filters.get("LOT_SIZE"), readLotSize),
    marketLotSize: optional(filters.get("MARKET_LOT_SIZE"), readLotSize),
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

export function filtersByType(filters: unknown): ReadonlyMap<string, JsonObject> {
  if (!Array.isArray(filters)) throw new RowFault("filters is no list");
  const byType = new Map<string, JsonObject>();
  for (const item of filters) {
    const filter = objectIn(item, "filter");
    byType.set(textIn(filter, "filterType"), filter);
  }
  return byType;
}

export function optional<Read>(
  filter: JsonObject | undefined,
  reader: (filter: JsonObject) => Read,
): Read | null {
  return filter === undefined ? null : reader(filter);
}

export function decimalIn<D extends bigint>(from: JsonObject, key: string): D {
  const text = from[key];
  const value = typeof text === "string" ? parseDecimal(text) : "NOT_A_DECIMAL";
  if (typeof value === "string") throw new RowFault(`${key} is ${value}: ${JSON.stringify(text)}`);
  return value as D;
}

export function countIn(from: JsonObject, key: string): number {
  const value = from[key];
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw new RowFault(`${key} is no count`);
  return value as number;
}

export function textIn(from: JsonObject, key: string): string {
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

export function flagIn(from: JsonObject, key: string): boolean {
  const value = from[key];
  if (typeof value !== "boolean") throw new RowFault(`${key} is neither true nor false`);
  return value;
}

export function objectIn(value: unknown, key: string): JsonObject {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new RowFault(`${key} is no object`);
  return value as JsonObject;
}
