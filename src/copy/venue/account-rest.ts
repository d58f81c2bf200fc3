// The base of both types' clients: the requests of one account, what its venue shares between accounts, and
// the weights of requests, as the exchange publishes them for each type. A Lyrebird charges 1 for an order
// where the exchange charges nothing; response headers correct the count, so a weight here matters only while
// a request is in flight. Source: reference exchange, sections 5.7, 6.1, 7, 9, 10.1, 11, 12 and 13.
import type { Logger } from "pino";
import type { StrategyType } from "../../domain/account.ts";
import type { VenuePrices, VenueRules } from "./rules-and-prices.ts";
import type { RestCall } from "./signed-rest.ts";
import type { VenueAnswer, VenueOrder } from "./venue.ts";

export type AccountRest = {
  readonly family: StrategyType;
  readonly accountId: string;
  readonly wallNow: () => number;
  /** Asks in the account's name; see `VenueRest.ask`. */
  readonly ask: (call: RestCall) => Promise<VenueAnswer<unknown>>;
  readonly rules: VenueRules;
  readonly prices: VenuePrices;
  /** The venue's own time, Unix ms. */
  readonly venueNow: () => number;
  readonly log: Pick<Logger, "warn">;
};

/** How requests differ in what they may use of the budgets. A leg protects a position. */
export const LEG_PLACEMENT = { placesOrder: true, priority: "REDUCE" } as const;
export const URGENT = { placesOrder: false, priority: "REDUCE" } as const;
/** A query of one order, on which others wait: it is repeated soon. */
export const FIND = { ...URGENT, deadlineMs: 2_000 } as const;
export const POLL = { placesOrder: false, priority: "POLL" } as const;

/** The priority of an order: a reduce-only order always goes first. */
export function placementCost({ reduceOnly, priority = "REDUCE" }: VenueOrder) {
  return { placesOrder: true, priority: reduceOnly ? "REDUCE" : priority } as const;
}

/** Weight of listing open orders: for one symbol, and for all symbols of the account at once. */
export type ListWeight = { readonly ofOne: number; readonly ofAll: number };

export const WEIGHTS = {
  SPOT: {
    /** `GET /api/v3/time` */
    time: 1,
    /** `GET /api/v3/exchangeInfo` */
    rules: 20,
    /** `GET /api/v3/ticker/price`, all symbols. */
    prices: 4,
    /** `GET /api/v3/account` */
    account: 20,
    /** `POST /api/v3/order`: 1 if it is rejected, 0 if it is placed. */
    place: 1,
    /** `DELETE /api/v3/order` */
    cancel: 1,
    /** `GET /api/v3/order` */
    find: 4,
    /** `GET /api/v3/openOrders` */
    openOrders: { ofOne: 6, ofAll: 80 },
    /** `GET /api/v3/myTrades` with `orderId`. */
    fills: 5,
    /** `GET /sapi/v1/account/apiRestrictions` */
    keyRights: 1,
  },
  FUTURES: {
    /** `GET /fapi/v1/time` */
    time: 1,
    /** `GET /fapi/v1/exchangeInfo` */
    rules: 1,
    /** `GET /fapi/v1/premiumIndex`, all symbols. */
    prices: 10,
    /** `GET /fapi/v3/account`, `GET /fapi/v2/account` */
    account: 5,
    /** `POST /fapi/v1/order`, `POST /fapi/v1/algoOrder`: only the order count. */
    place: 0,
    /** `DELETE /fapi/v1/order`, `DELETE /fapi/v1/algoOrder` */
    cancel: 1,
    /** `GET /fapi/v1/order`, `GET /fapi/v1/algoOrder` */
    find: 1,
    /** `GET /fapi/v1/openOrders` */
    openOrders: { ofOne: 1, ofAll: 40 },
    /** `GET /fapi/v1/openAlgoOrders` */
    openLegs: { ofOne: 1, ofAll: 40 },
    /** `GET /fapi/v1/userTrades` */
    fills: 5,
    /** `GET /fapi/v1/income` */
    income: 30,
    /** `POST /fapi/v1/leverage`, `POST /fapi/v1/marginType` */
    setting: 1,
    /** `GET /fapi/v1/positionSide/dual` */
    positionMode: 30,
    /** `GET /sapi/v1/account/apiRestrictions` */
    keyRights: 1,
  },
} as const;
