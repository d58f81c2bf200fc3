// The exchange's listings as upstream has them, with our own time, and our own budgets in `rateLimits`, so
// that clients pace themselves to them. The rows of spot are unchanged. The rows of futures are those of the
// contracts that can be traded here, and each says how many open legs it allows, also where upstream does
// not. It sends no request upstream: the market client caches the listings.
// Source: specification 4.5; reference exchange, sections 4, 6.1 and 9.
import type { StrategyType } from "../../domain/account.ts";
import { ORDERS_PER_10_SECONDS, ORDERS_PER_MINUTE } from "../../domain/order-counts.ts";
import { isRefusal, type Refusal } from "../../domain/refusal.ts";
import type { SymbolRules } from "../../domain/symbol.ts";
import type { ExchangeInfoBody } from "../../market/client/rules/listings.ts";
import { WEIGHT_PER_MINUTE } from "../../rate-limits/budgets.ts";
import type { Parameters } from "../parameters.ts";
import { type Descriptions, IGNORED, optional } from "../parse/descriptions.ts";
import { optionalFlag, optionalText } from "../parse/fields.ts";
import {
  type Listed,
  listedSymbols,
  SYMBOL_STATUS,
  symbol,
  symbolStatus,
  symbols,
  textList,
} from "../parse/market-data.ts";
import type { Listings, Ports } from "../pipeline.ts";
import { ReadyJson } from "../route.ts";

/** The budgets of a key, as clients are shown them. */
export const RATE_LIMITS = [
  { rateLimitType: "REQUEST_WEIGHT", interval: "MINUTE", intervalNum: 1, limit: WEIGHT_PER_MINUTE },
  { rateLimitType: "ORDERS", interval: "SECOND", intervalNum: 10, limit: ORDERS_PER_10_SECONDS },
  { rateLimitType: "ORDERS", interval: "MINUTE", intervalNum: 1, limit: ORDERS_PER_MINUTE },
] as const;

const PERMISSION = /^[A-Z0-9_]{1,32}$/;

export const SPOT_EXCHANGE_INFO_PARAMETERS: Descriptions = {
  symbol: symbol.description,
  symbols: symbols.description,
  permissions: optional(
    "text",
    "A permission, or a JSON list of permissions: the symbols that have one of them. Not with named symbols.",
    { default: "any" },
  ),
  symbolStatus: { ...SYMBOL_STATUS, description: "Not with named symbols." },
  showPermissionSets: optional("flag", "With `false`, `permissionSets` are empty.", { default: "true" }),
};
export const FUTURES_EXCHANGE_INFO_PARAMETERS: Descriptions = { symbol: IGNORED };

type ListingMarket = Listings[StrategyType];
type Row = NonNullable<ReturnType<Listed["get"]>>;

/** Named symbols, or all with these properties; a property that is null does not matter. */
type SpotQuery = {
  readonly names: readonly string[] | undefined;
  readonly permissions: ReadonlySet<string> | null;
  readonly status: string | null;
  readonly showsPermissionSets: boolean;
};

/**
 * The symbols that are named, or all of a status and with one of some permissions. Refuses what `symbol` and
 * `symbols` refuse elsewhere, SYMBOL_STATUS_INVALID, LIST_MALFORMED, PARAMETER_INVALID, and
 * PARAMETERS_EXCLUSIVE when symbols are named and described.
 */
export function parseSpotExchangeInfo(parameters: Parameters, listings: Listings): SpotQuery | Refusal {
  const listed = listedBy("SPOT", listings.SPOT);
  const one = symbol(parameters, listed, "symbol");
  if (isRefusal(one)) return one;
  const many = listedSymbols(parameters, listed);
  if (isRefusal(many)) return many;
  const names = one === undefined ? many : [one];
  const permissions = readPermissions(parameters);
  if (isRefusal(permissions)) return permissions;
  const status = symbolStatus(parameters);
  if (isRefusal(status)) return status;
  const isDescribed = permissions !== null || status !== null;
  if (names !== undefined && isDescribed) return { refusal: "PARAMETERS_EXCLUSIVE" };
  const showsPermissionSets = optionalFlag(parameters, "showPermissionSets") ?? true;
  if (isRefusal(showsPermissionSets)) return showsPermissionSets;
  return { names, permissions, status, showsPermissionSets };
}

export function spotExchangeInfo(
  { names, permissions, status, showsPermissionSets }: SpotQuery,
  { markets, wallNow }: Pick<Ports, "markets" | "wallNow">,
): ReadyJson {
  const body = markets.SPOT.exchangeInfo();
  if (names === undefined && permissions === null && status === null && showsPermissionSets) {
    return answerWith(textOfAll(body), body, wallNow());
  }
  const rows = names === undefined ? body.symbols.values() : rowsOf(names, body);
  const chosen = [...rows].filter(
    (row) =>
      (status === null || row.status === status) &&
      (permissions === null || permissionsOf(row).some((permission) => permissions.has(String(permission)))),
  );
  const textOf = showsPermissionSets ? textOfRow : textWithoutPermissionSets;
  return answerWith(`[${chosen.map(textOf).join(",")}]`, body, wallNow());
}

/** All contracts: the futures route ignores `symbol`. Source: reference exchange, section 9. */
export function futuresExchangeInfo(
  _input: undefined,
  { markets, wallNow }: Pick<Ports, "markets" | "wallNow">,
): ReadyJson {
  const body = contractsOf(markets.FUTURES);
  return answerWith(textOfAll(body), body, wallNow());
}

/** The symbols that are listed for strategies of a type. */
export function listedBy(type: StrategyType, market: ListingMarket): Listed {
  return type === "SPOT" ? market.exchangeInfo().symbols : contractsOf(market).symbols;
}

function answerWith(rows: string, body: ExchangeInfoBody, serverTime: number): ReadyJson {
  const head = JSON.stringify({ ...body.head, serverTime, rateLimits: RATE_LIMITS });
  return new ReadyJson(`${head.slice(0, -1)},"symbols":${rows}}`);
}

/** The rows of symbols that are listed, in that order. */
function rowsOf(names: readonly string[], body: ExchangeInfoBody): readonly Row[] {
  return names.map((name) => body.symbols.get(name)).filter((row) => row !== undefined);
}

/** One permission, or a JSON list of them: a symbol needs one of them. Null if any symbol will do. */
function readPermissions(parameters: Parameters): ReadonlySet<string> | null | Refusal {
  const value = optionalText(parameters, "permissions");
  if (value === null) return null;
  const list = value.startsWith("[") ? textList(value) : [value];
  if (list === null) return { refusal: "LIST_MALFORMED", parameter: "permissions" };
  const isValid = list.every((permission) => PERMISSION.test(permission));
  return isValid ? new Set(list) : { refusal: "PARAMETER_INVALID", parameter: "permissions" };
}

/** Every permission that a symbol's sets name; older bodies have a plain list. */
function permissionsOf({ permissionSets, permissions }: Row): readonly unknown[] {
  return [permissionSets, permissions].flatMap((value) => (Array.isArray(value) ? value.flat() : []));
}

const contracts = new WeakMap<ExchangeInfoBody, ExchangeInfoBody>();

/** The body of futures with the contracts that have rules here, rebuilt when a row has changed. */
function contractsOf(market: ListingMarket): ExchangeInfoBody {
  const body = market.exchangeInfo();
  const cached = contracts.get(body);
  if (cached?.version === body.version) return cached;
  const rows = [...body.symbols].flatMap(([symbol, row]) => {
    const rules = market.rules(symbol);
    return rules === null ? [] : [[symbol, withLegCount(row, rules)] as const];
  });
  const made = { head: body.head, symbols: new Map(rows), version: body.version };
  contracts.set(body, made);
  return made;
}

function withLegCount(row: Row, { maxNumAlgoOrders }: SymbolRules): Row {
  const filters: readonly unknown[] = Array.isArray(row.filters) ? row.filters : [];
  const filterType = "MAX_NUM_ALGO_ORDERS";
  const isPublished = filters.some((filter) => (filter as Row | null)?.filterType === filterType);
  return isPublished ? row : { ...row, filters: [...filters, { filterType, limit: maxNumAlgoOrders }] };
}

const textsOfAll = new WeakMap<ExchangeInfoBody, { readonly version: number; readonly rows: string }>();

/** All rows as JSON. They are many megabytes, so the text is cached until a row changes. */
function textOfAll(body: ExchangeInfoBody): string {
  const cached = textsOfAll.get(body);
  if (cached?.version === body.version) return cached.rows;
  const rows = JSON.stringify([...body.symbols.values()]);
  textsOfAll.set(body, { version: body.version, rows });
  return rows;
}

const textOfRow = cachedText((row) => row);
const textWithoutPermissionSets = cachedText((row) => ({ ...row, permissionSets: [] }));

/**
 * Caches each row as JSON, as long as the row exists: an answer with thousands of rows then only joins texts.
 */
function cachedText(shown: (row: Row) => object): (row: Row) => string {
  const texts = new WeakMap<Row, string>();
  return (row) => {
    const cached = texts.get(row) ?? JSON.stringify(shown(row));
    texts.set(row, cached);
    return cached;
  };
}
