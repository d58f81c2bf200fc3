// What the clients of both families stand on: the requests of one account, and what its venue knows for all of them.
import type { Logger } from "pino";
import type { StrategyType } from "../../domain/account.ts";
import type { VenuePrices } from "./prices.ts";
import type { VenueRules } from "./rules.ts";
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
export const POLL = { placesOrder: false, priority: "POLL" } as const;

/** The priority of an order: a reduce-only order always goes first. */
export function placementCost({ reduceOnly, priority = "REDUCE" }: VenueOrder) {
  return { placesOrder: true, priority: reduceOnly ? "REDUCE" : priority } as const;
}
