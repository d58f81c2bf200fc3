// Orders as both types write them: placements, order states, the open orders of an account, and fees of
// fills. Open orders are requested symbol by symbol while that costs less than all at once. No size depends
// on fees, so requests for fills use only the polls' part of the budget. A venue may list fills moments after
// the order itself reports its executions: a list that does not add up to them says nothing of fees. Source:
// reference exchange, sections 7.2 to 7.6, 8.1, 8.5, 11.5, 11.9, 12 and 13.
import type { Logger } from "pino";
import type { StrategyType } from "../../domain/account.ts";
import {
  type Amount,
  add,
  costUp,
  formatBriefly,
  type Price,
  type Quantity,
  ZERO,
} from "../../money/decimal.ts";
import {
  amountOf,
  type Body,
  BodyFault,
  idOf,
  mapped,
  objectOf,
  rowsOf,
  textOf,
  timeOf,
  unknown,
  valueFor,
} from "./answers.ts";
import type { ListWeight } from "./limits.ts";
import { type Parameters, RECV_WINDOW_MS, type RestCall } from "./signed-rest.ts";
import type {
  FillsAsked,
  FillsSince,
  Venue,
  VenueAnswer,
  VenueClient,
  VenueFills,
  VenueOrder,
  VenueOrderState,
  VenueOrderStatus,
} from "./venue.ts";

/**
 * "Order does not exist."; also one that ended so long ago that it is archived, and one on an unknown symbol.
 */
export const NOT_FOUND_CODES: ReadonlySet<number> = new Set([-2013, -2026, -1121]);
/** No order is open under that id: it has ended, is being triggered, or never existed. */
export const NOT_OPEN_CODES: ReadonlySet<number> = new Set([-2011, -2013, -4117]);

const STATUSES: ReadonlyMap<string, VenueOrderStatus> = new Map([
  ["NEW", "RESTING"],
  ["PENDING_NEW", "RESTING"],
  ["PARTIALLY_FILLED", "RESTING"],
  ["PENDING_CANCEL", "RESTING"],
  ["FILLED", "FILLED"],
  ["CANCELED", "CANCELED"],
  ["REJECTED", "REJECTED"],
  ["EXPIRED", "EXPIRED"],
  ["EXPIRED_IN_MATCH", "EXPIRED"],
]);

export function statusOf(text: string): VenueOrderStatus {
  const status = STATUSES.get(text);
  if (status === undefined) throw new BodyFault(`status ${text}`);
  return status;
}

/** The parameters of a placement; `newClientOrderId` identifies the order. */
export function placementOf(order: VenueOrder): Parameters {
  const { type, price, stopPrice } = order;
  const hasLimit = type === "LIMIT" || type === "STOP_LOSS_LIMIT";
  const hasTrigger = type === "STOP_LOSS" || type === "STOP_LOSS_LIMIT";
  return {
    symbol: order.symbol,
    side: order.side,
    type,
    timeInForce: hasLimit ? "GTC" : undefined,
    quantity: formatBriefly(order.quantity),
    price: hasLimit ? formatBriefly(price) : undefined,
    stopPrice: hasTrigger ? formatBriefly(stopPrice) : undefined,
    newClientOrderId: order.clientOrderId,
  };
}

/** The queried order. `venueOrderId`: the query used this id, and the order may have another client id. */
export type OrderAsked = {
  readonly symbol: string;
  readonly clientOrderId: string;
  readonly venueOrderId?: string;
};

/**
 * An order from a body; `quoteKey` is the type's name of the executed quote amount. Throws a BodyFault if the
 * body names another order than the queried one.
 */
export function orderOf(body: Body, asked: OrderAsked, quoteKey: string): VenueOrderState {
  const order = { ...unpaidOrderOf(body, asked), executedQuote: amountOf<Amount>(body, quoteKey) };
  const { executedQuantity, executedQuote } = order;
  if (executedQuote < 0n) throw new BodyFault(`${quoteKey} is below zero`);
  if (executedQuantity === 0n && executedQuote > 0n)
    throw new BodyFault("paid for without anything executed");
  if (executedQuantity > 0n && executedQuote === 0n) throw new BodyFault("executed without anything paid");
  return order;
}

/** The order under a client id, queried; null if the venue knows none. */
export async function findOrder(
  rest: AccountRest,
  call: RestCall,
  asked: OrderAsked,
  quoteKey: string,
): Promise<VenueAnswer<VenueOrderState | null>> {
  const parameters = { symbol: asked.symbol, origClientOrderId: asked.clientOrderId };
  const answer = await rest.ask({ ...call, parameters });
  const found = mapped(answer, (value) => orderOf(objectOf(value), asked, quoteKey));
  return valueFor<VenueOrderState | null>(NOT_FOUND_CODES, found, null);
}

/** An order as a body has it that does not say what was paid: zero. Throws as `orderOf` does. */
export function unpaidOrderOf(body: Body, asked: OrderAsked): VenueOrderState {
  demandOrder(body, asked);
  const quantity = amountOf<Quantity>(body, "origQty");
  const executedQuantity = amountOf<Quantity>(body, "executedQty");
  if (quantity < 0n || executedQuantity < 0n) throw new BodyFault("a size below zero");
  // An order that closes the whole position has no size of its own.
  if (quantity > 0n && executedQuantity > quantity) throw new BodyFault("more executed than was ordered");
  return {
    clientOrderId: asked.clientOrderId,
    venueOrderId: idOf(body, "orderId"),
    status: statusOf(textOf(body, "status")),
    quantity,
    executedQuantity,
    executedQuote: ZERO as Amount,
    updatedAt: timeOf(body, "updateTime", "transactTime"),
  };
}

/** Throws a BodyFault if the body names another symbol or another order. */
function demandOrder(body: Body, { symbol, clientOrderId, venueOrderId }: OrderAsked): void {
  demandSame(body, "symbol", symbol);
  if (venueOrderId !== undefined) {
    demandOrderId(body, venueOrderId);
    return;
  }
  // The answer to a spot cancel has the order's id here, and in clientOrderId the id of the cancel itself.
  const key = body.origClientOrderId === undefined ? "clientOrderId" : "origClientOrderId";
  demandSame(body, key, clientOrderId);
}

/** Throws a BodyFault if the body names an order of another id, as the venue numbers them. */
export function demandOrderId(body: Body, venueOrderId: string): void {
  if (body.orderId !== undefined && idOf(body, "orderId") !== venueOrderId)
    throw new BodyFault("another orderId");
}

/** Throws a BodyFault if the body has something else under the key; a key that is missing is not judged. */
export function demandSame(body: Body, key: string, expected: string): void {
  if (body[key] !== undefined && body[key] !== expected) throw new BodyFault(`another ${key}`);
}

/**
 * A route that lists what is open: what it costs with a symbol and without, and where the rows have their
 * client ids.
 */
export type OpenRoute = {
  readonly path: string;
  readonly weight: ListWeight;
  readonly idKey: string;
};

type OpenOrders = readonly (readonly [clientOrderId: string, executed: Quantity])[];

/** How often a poll lists open orders: before and after it asks for balances. */
export const LISTS_OF_POLL = 2;

/** The weight of listing open orders on this many symbols. */
export function weightOfOpen({ weight }: OpenRoute, symbols: ReadonlySet<string>): number {
  return Math.min(symbols.size * weight.ofOne, weight.ofAll);
}

/** `symbols`: where there may be any; undefined if that is not known. */
export async function listOpen(
  rest: AccountRest,
  { path, weight, idKey }: OpenRoute,
  symbols: ReadonlySet<string> | undefined,
): Promise<VenueAnswer<OpenOrders>> {
  const isCheaper = symbols !== undefined && symbols.size * weight.ofOne < weight.ofAll;
  const cost = isCheaper ? weight.ofOne : weight.ofAll;
  const orders: (readonly [string, Quantity])[] = [];
  for (const symbol of isCheaper ? symbols : [undefined]) {
    const parameters = { symbol };
    const answer = await rest.ask({ method: "GET", path, weight: cost, parameters, ...URGENT });
    const listed = mapped(answer, (value) => rowsOf(value).map((row) => openOf(row, idKey)));
    // On a symbol that is listed no more nothing is open.
    const read = valueFor<OpenOrders>(NOT_FOUND_CODES, listed, []);
    if (read.kind !== "OK") return read;
    orders.push(...read.value);
  }
  return { kind: "OK", value: orders };
}

/** A leg does not report what it has executed. */
function openOf(row: Body, idKey: string): readonly [string, Quantity] {
  return [textOf(row, idKey), "executedQty" in row ? amountOf<Quantity>(row, "executedQty") : ZERO];
}

/** Fills of a page, and pages that are requested: more of either than an order ever has. */
const PAGE_ROWS = 1_000;
const PAGES_MAX = 20;

type Route = Pick<RestCall, "path" | "weight" | "priority">;

/** Fees on a symbol that the venue has delisted have an unknown asset, and are not computed. */
const NOT_RECKONED: VenueFills = { fee: ZERO, feeInBase: ZERO };

/** See `VenueClient.fills`. */
export async function askForFills(
  rest: AccountRest,
  route: Route,
  { symbol, venueOrderId, executed }: FillsAsked,
): Promise<VenueAnswer<VenueFills | null>> {
  const rules = await rest.rules.of(symbol);
  if (rules.kind !== "OK") return rules;
  if (rules.value === null) return { kind: "OK", value: NOT_RECKONED };
  const listed = await listFills(rest, { ...route, placesOrder: false }, { symbol, orderId: venueOrderId });
  const rows = mapped(listed, (found) => (executed === null ? found.rows : firstOf(found.rows, executed)));
  if (rows.kind !== "OK") return rows;
  if (rows.value === null) return { kind: "OK", value: null };
  return await valuedFees(rest, rows.value, rules.value);
}

/** See `VenueClient.fillsSince`. */
export async function askForFillsSince(
  rest: AccountRest,
  route: Route,
  { symbol, since, orders }: FillsSince,
): Promise<VenueAnswer<ReadonlyMap<string, VenueFills>>> {
  const rules = await rest.rules.of(symbol);
  if (rules.kind !== "OK") return rules;
  const assets = rules.value;
  if (assets === null) {
    return { kind: "OK", value: new Map([...orders.keys()].map((id) => [id, NOT_RECKONED])) };
  }
  // The venue's clock differs from ours.
  const startTime = since + rest.venueNow() - rest.wallNow();
  const listed = await listFills(rest, { ...route, placesOrder: false }, { symbol, startTime });
  const rows = mapped(listed, (found) => Map.groupBy(found.rows, (row) => idOf(row, "orderId")));
  if (rows.kind !== "OK") return rows;
  const fees = new Map<string, VenueFills>();
  for (const [venueOrderId, executed] of orders) {
    const fills = mapped(rows, (found) => firstOf(found.get(venueOrderId) ?? [], executed));
    if (fills.kind !== "OK") return fills;
    if (fills.value === null) continue;
    const valued = await valuedFees(rest, fills.value, assets);
    if (valued.kind !== "OK") return valued;
    fees.set(venueOrderId, valued.value);
  }
  return { kind: "OK", value: fees };
}

/** The fees of fills; those in an asset other than the pair's two are valued at its price. */
async function valuedFees(
  rest: AccountRest,
  fills: readonly Body[],
  assets: PairAssets,
): Promise<VenueAnswer<VenueFills>> {
  const listed: VenueAnswer<readonly Body[]> = { kind: "OK", value: fills };
  const others = mapped(listed, (rows) => otherAssetsOf(rows, assets));
  if (others.kind !== "OK") return others;
  const priceOf = others.value.length === 0 ? () => null : await pricesOf(rest, assets);
  if (priceOf === null) return unknown("a fee in another asset cannot be valued");
  return mapped(listed, (rows) => {
    const fees = feesOf(rows, assets, priceOf);
    // Of a contract nothing arrives that a fee could be taken from.
    return rest.type === "SPOT" ? fees : { ...fees, feeInBase: ZERO };
  });
}

/** The first fills, up to what was executed; null if they do not add up to it. */
function firstOf(rows: readonly Body[], executed: Quantity): readonly Body[] | null {
  let filled = ZERO as Quantity;
  for (const [index, row] of rows.entries()) {
    if (filled === executed) return rows.slice(0, index);
    filled = add(filled, amountOf<Quantity>(row, "qty"));
  }
  return filled === executed ? rows : null;
}

/** All fills of an order, or since a time, oldest first. `isWhole`: there are no more than that. */
export async function listFills(
  rest: AccountRest,
  call: Omit<RestCall, "method" | "parameters">,
  { startTime, ...of }: { readonly symbol: string; readonly orderId?: string; readonly startTime?: number },
): Promise<VenueAnswer<{ readonly rows: readonly Body[]; readonly isWhole: boolean }>> {
  const rows: Body[] = [];
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const last = rows.at(-1);
    // An id says where to continue; it cannot be combined with a time.
    const from = last === undefined ? { startTime } : { fromId: Number(idOf(last, "id")) + 1 };
    const parameters = { ...of, ...from, limit: PAGE_ROWS };
    const answer = await rest.ask({ ...call, method: "GET", parameters });
    const read = mapped(answer, (value) =>
      rowsOf(value).map((row) => {
        if (of.orderId !== undefined) demandOrderId(row, of.orderId);
        return { ...row, id: idOf(row, "id") };
      }),
    );
    if (read.kind !== "OK") return read;
    rows.push(...read.value);
    if (read.value.length < PAGE_ROWS) return { kind: "OK", value: { rows, isWhole: true } };
  }
  return { kind: "OK", value: { rows, isWhole: false } };
}

/** An asset's price in the pair's quote asset; an asset without a market has none. Null: no prices. */
async function pricesOf(rest: AccountRest, { quoteAsset }: PairAssets): Promise<PriceOf | null> {
  const prices = await rest.prices.all();
  if (prices.kind !== "OK") return null;
  return (asset) => {
    const price = prices.value.get(`${asset}${quoteAsset}`) ?? null;
    if (price === null) rest.log.warn({ asset, quoteAsset }, "a fee has no value that is known");
    return price;
  };
}

/** An asset's price in the pair's quote asset; null if it has none that is known. */
type PriceOf = (asset: string) => Price | null;

type PairAssets = { readonly baseAsset: string; readonly quoteAsset: string };

/**
 * The fees of an order's fills, each with `price`, `commission` and `commissionAsset`. A fee may be taken in
 * the quote asset, in the base asset, of which then less arrives, or in another one that the account has
 * chosen; each is valued in the quote asset, rounded up. Throws a BodyFault.
 */
export function feesOf(
  rows: readonly Body[],
  { baseAsset, quoteAsset }: PairAssets,
  /** An asset's price in the quote asset; null if it is not known: the fee is then not computed. */
  priceOf: PriceOf,
): VenueFills {
  let fee = ZERO as Amount;
  let feeInBase = ZERO as Quantity;
  for (const row of rows) {
    const asset = textOf(row, "commissionAsset");
    if (asset === quoteAsset) {
      fee = add(fee, amountOf<Amount>(row, "commission"));
      continue;
    }
    const taken = amountOf<Quantity>(row, "commission");
    const price = asset === baseAsset ? amountOf<Price>(row, "price") : priceOf(asset);
    if (price !== null) fee = add(fee, costUp(price, taken));
    if (asset === baseAsset) feeInBase = add(feeInBase, taken);
  }
  return { fee, feeInBase };
}

/** The assets that fees were taken in beside the two of the pair. */
export function otherAssetsOf(
  rows: readonly Body[],
  { baseAsset, quoteAsset }: PairAssets,
): readonly string[] {
  const assets = rows.map((row) => textOf(row, "commissionAsset"));
  return assets.filter((asset) => asset !== baseAsset && asset !== quoteAsset);
}

// The base of both types' clients: the requests of one account, what its venue shares between accounts, and
// the weights of requests, as the exchange publishes them for each type. A Lyrebird charges 1 for an order
// where the exchange charges nothing; response headers correct the count, so a weight here matters only while
// a request is in flight. Source: reference exchange, sections 5.7, 6.1, 7, 9, 10.1, 11, 12 and 13.

export type AccountRest = {
  readonly type: StrategyType;
  readonly wallNow: () => number;
  /** Asks in the account's name; see `VenueRest.ask`. */
  readonly ask: (call: RestCall) => Promise<VenueAnswer<unknown>>;
  readonly rules: { of(symbol: string): ReturnType<Venue["rules"]> };
  readonly prices: { all(): ReturnType<Venue["prices"]> };
  /** The venue's own time, Unix ms. */
  readonly venueNow: () => number;
  readonly listen: VenueClient["listen"];
  readonly log: Pick<Logger, "warn">;
};

/**
 * How requests differ in what they may use of the budgets. A leg protects a position: without an answer it is
 * soon sent again under its id, which the venue takes once.
 */
export const LEG_PLACEMENT = { placesOrder: true, priority: "REDUCE", deadlineMs: 2_000 } as const;
export const URGENT = { placesOrder: false, priority: "REDUCE" } as const;
/** A query of one order, on which others wait: it is repeated soon. */
export const FIND = { ...URGENT, deadlineMs: 2_000 } as const;
export const POLL = { placesOrder: false, priority: "POLL" } as const;

/**
 * The priority of an order: a reduce-only order always goes first. Without an answer after its validity it is
 * queried.
 */
export function placementCost({ reduceOnly, priority = "REDUCE" }: VenueOrder) {
  return {
    placesOrder: true,
    priority: reduceOnly ? "REDUCE" : priority,
    deadlineMs: RECV_WINDOW_MS,
  } as const;
}
