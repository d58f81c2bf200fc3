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
