// Executions on a symbol of an account, and the origin of their orders. The venue closes contracts by orders
// of its own: liquidation, auto-deleveraging (ADL), settlement of a delisted contract. Such an order has a
// special type or a client id prefix that no client may choose; so each unknown order is queried, once. On
// spot there are none, and a list of fills has no client ids of their orders. Source: reference exchange,
// sections 7, 11.8, 11.9, 12.2 and 15.6.

import { BoundedMap } from "../../concurrency/bounded-map.ts";
import type { Side } from "../../domain/order.ts";
import { type Amount, atLeastZero, type Quantity } from "../../money/decimal.ts";
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
  valueFor,
} from "./answers.ts";
import { WEIGHTS } from "./limits.ts";
import {
  type AccountRest,
  demandOrderId,
  FIND,
  listFills,
  NOT_FOUND_CODES,
  POLL,
  statusOf,
  URGENT,
} from "./orders.ts";
import type { VenueAnswer, VenueTrade } from "./venue.ts";

const { SPOT, FUTURES } = WEIGHTS;
const FIND_ORDER = { method: "GET", path: "/fapi/v1/order", weight: FUTURES.find, ...FIND } as const;
const INCOMES = { method: "GET", path: "/fapi/v1/income", weight: FUTURES.income, ...POLL } as const;
// The outcome of an order, for which exits and stops wait, may depend on these. Polls ask by their own
// priority.
const TRADES = {
  SPOT: { path: "/api/v3/myTrades", weight: SPOT.fillsSince, ...URGENT },
  FUTURES: { path: "/fapi/v1/userTrades", weight: FUTURES.fills, ...URGENT },
} as const;
/** How the client ids of the venue's own orders begin: of liquidations, of ADL, and of settlements. */
const VENUES_OWN = /^(adl_|settlement_)?autoclose/;
/**
 * Orders of an account that are queried at one time, so that an owner's many trades do not delay the copy.
 */
const ORDERS_ASKED_MAX = 20;
/** Orders whose origin is cached; evicted ones are queried again. */
const REMEMBERED_MAX = 1_000;
/** The venue takes times of contracts that lie so far back, less a day, ms. */
const BACK_MS_MAX = 6 * 86_400_000;
/** Requested rows of incomes. */
const INCOMES_MAX = 1_000;

type Giver = { readonly by: "VENUE" | "OTHER"; readonly clientOrderId: string };
type Row = Omit<VenueTrade, "by" | "clientOrderId">;

export class Trades {
  readonly #rest: AccountRest;
  /** By symbol and order id. */
  readonly #givers = new BoundedMap<string, Giver>(REMEMBERED_MAX);

  constructor(rest: AccountRest) {
    this.#rest = rest;
  }

  /** See `VenueClient.trades`. */
  async since(
    symbol: string,
    { since, known }: { readonly since: number; readonly known: ReadonlySet<string> },
  ): Promise<VenueAnswer<readonly VenueTrade[] | null>> {
    const isSpot = this.#rest.type === "SPOT";
    const now = this.#rest.venueNow();
    // Our time at that moment is a different time there.
    const there = since + now - this.#rest.wallNow();
    const startTime = isSpot ? there : Math.max(there, now - BACK_MS_MAX);
    const listed = await listFills(this.#rest, TRADES[this.#rest.type], { symbol, startTime });
    // Were they not all, what came last would be missing.
    const read = mapped(listed, (found) => (found.isWhole ? found.rows.map(rowOf) : null));
    const answer = valueFor(NOT_FOUND_CODES, read, null);
    if (answer.kind !== "OK") return answer;
    if (answer.value === null) return { kind: "OK", value: null };
    const rows = answer.value;
    const strange = rows.map(({ venueOrderId }) => venueOrderId).filter((orderId) => !known.has(orderId));
    const givers = await this.#giversOf(symbol, new Set(isSpot ? [] : strange));
    return mapped(givers, (found) =>
      rows.map((row): VenueTrade => {
        const giver = found.get(row.venueOrderId) ?? null;
        const other = isSpot ? "OTHER" : (giver?.by ?? "UNKNOWN");
        const by = known.has(row.venueOrderId) ? "KNOWN" : other;
        return { ...row, by, clientOrderId: giver?.clientOrderId ?? null };
      }),
    );
  }

  /** Queries as many as permitted at one time, oldest first. */
  async #giversOf(
    symbol: string,
    orderIds: ReadonlySet<string>,
  ): Promise<VenueAnswer<ReadonlyMap<string, Giver>>> {
    const givers = new Map<string, Giver>();
    let asked = 0;
    for (const orderId of orderIds) {
      const remembered = this.#givers.get(`${symbol} ${orderId}`);
      if (remembered !== undefined) givers.set(orderId, remembered);
      else if (asked < ORDERS_ASKED_MAX) {
        asked += 1;
        const answer = await this.#ask(symbol, orderId);
        if (answer.kind !== "OK") return answer;
        if (answer.value !== null) givers.set(orderId, answer.value);
      }
    }
    return { kind: "OK", value: givers };
  }

  /** Null while the order is not over: how much it closes is not known before. */
  async #ask(symbol: string, orderId: string): Promise<VenueAnswer<Giver | null>> {
    const answer = await this.#rest.ask({ ...FIND_ORDER, parameters: { symbol, orderId } });
    const found = mapped(answer, (value) => {
      const body = objectOf(value);
      demandOrderId(body, orderId);
      return giverOf(body);
    });
    const giver = valueFor<Giver | null>(NOT_FOUND_CODES, found, { by: "OTHER", clientOrderId: "" });
    // One that the venue does not show yet may turn out to be the copy's, or its owner's.
    const isShown = giver.kind === "OK" && giver.value !== null && giver.value.clientOrderId !== "";
    if (isShown) this.#givers.set(`${symbol} ${orderId}`, giver.value);
    return giver;
  }
}

/** The incomes that the insurance fund took, less what it gave; never below zero. */
export async function askForClearance(
  rest: AccountRest,
  symbol: string,
  { from, until }: { readonly from: number; readonly until: number },
): Promise<VenueAnswer<Amount>> {
  const parameters = {
    symbol,
    incomeType: "INSURANCE_CLEAR",
    startTime: from,
    endTime: until,
    limit: INCOMES_MAX,
  };
  const answer = await rest.ask({ ...INCOMES, parameters });
  return mapped(answer, (value) => {
    const taken = rowsOf(value).reduce((sum, row) => sum - amountOf<Amount>(row, "income"), 0n);
    return atLeastZero(taken as Amount);
  });
}

function giverOf(body: Body): Giver | null {
  const clientOrderId = textOf(body, "clientOrderId");
  if (textOf(body, "type") !== "LIQUIDATION" && !VENUES_OWN.test(clientOrderId))
    return { by: "OTHER", clientOrderId };
  return statusOf(textOf(body, "status")) === "RESTING" ? null : { by: "VENUE", clientOrderId };
}

function rowOf(body: Body): Row {
  const quantity = amountOf<Quantity>(body, "qty");
  const quote = amountOf<Amount>(body, "quoteQty");
  if (quantity <= 0n || quote < 0n) throw new BodyFault("a trade of nothing");
  const at = timeOf(body, "time");
  return { venueOrderId: idOf(body, "orderId"), side: sideOf(body), quantity, quote, at };
}

/** A flag says it on spot. */
function sideOf(body: Body): Side {
  if (typeof body.isBuyer === "boolean") return body.isBuyer ? "BUY" : "SELL";
  const side = textOf(body, "side");
  if (side === "BUY" || side === "SELL") return side;
  throw new BodyFault(`side ${side}`);
}
