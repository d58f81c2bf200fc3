// What the clients of both families stand on: the requests of one account, and what its venue knows for all of them.
import type { Logger } from "pino";
import type { StrategyType } from "../../domain/account.ts";
import type { KeptFills } from "./kept-fills.ts";
import type { VenuePrices } from "./prices.ts";
import type { VenueRules } from "./rules.ts";
import type { RestCall } from "./signed-rest.ts";
import type { VenueAnswer } from "./venue.ts";

export type AccountRest = {
  readonly family: StrategyType;
  readonly accountId: string;
  readonly wallNow: () => number;
  /** Asks in the account's name; see `VenueRest.ask`. */
  readonly ask: (call: RestCall) => Promise<VenueAnswer<unknown>>;
  readonly rules: VenueRules;
  readonly prices: VenuePrices;
  readonly keptFills: KeptFills;
  /** The venue's own time, Unix ms. */
  readonly venueNow: () => number;
  readonly log: Pick<Logger, "warn">;
};

/** How requests differ in what they may use of the budgets. */
export const PLACEMENT = { placesOrder: true, isUrgent: true } as const;
export const URGENT = { placesOrder: false, isUrgent: true } as const;
export const LOOK = { placesOrder: false, isUrgent: false } as const;
