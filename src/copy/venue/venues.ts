// All venues of a process: one for each origin and type, created at its first use. The code that opened them
// closes them; requests in flight then get no answer.
import type { Logger } from "pino";
import type { Timers } from "../../concurrency/time.ts";
import type { StrategyType } from "../../domain/account.ts";
import type { VenueReport } from "../../domain/venue-report.ts";
import type { AccountRest } from "./account-rest.ts";
import { createFuturesClient } from "./futures-account.ts";
import { PollBudget, type RateLimits, WEIGHTS } from "./limits.ts";
import { VenuePrices, VenueRules } from "./rules-and-prices.ts";
import { type RestCall, VenueRest } from "./signed-rest.ts";
import { createSpotClient } from "./spot-account.ts";
import type { Venue } from "./venue.ts";

export type Venues = {
  /** The same for the same origin and family. */
  venue(origin: string, family: StrategyType): Venue;
  /** Reports on all venues used so far. */
  reports(): readonly VenueReport[];
  close(): Promise<void>;
};

export type VenuesParts = {
  /** Wall time, Unix ms. */
  readonly wallNow: () => number;
  readonly after: Timers["after"];
  readonly log: Pick<Logger, "warn">;
};

const TIME_PATHS = { SPOT: "/api/v3/time", FUTURES: "/fapi/v1/time" } as const;
/**
 * A symbol that the exchange has listed from the beginning, and how often it is requested until the limits
 * are known, ms.
 */
const LISTED_EVERYWHERE = "BTCUSDT";
const LIMITS_RETRY_MS = 60_000;
const CLIENTS = { SPOT: createSpotClient, FUTURES: createFuturesClient } as const;

export function createVenues(parts: VenuesParts): Venues {
  const open = new Map<string, { readonly venue: Venue; readonly rest: VenueRest }>();
  return {
    venue(origin, family) {
      const name = `${family} ${origin}`;
      const known = open.get(name);
      if (known !== undefined) return known.venue;
      const made = openVenue(origin, family, parts);
      open.set(name, made);
      return made.venue;
    },
    reports: () =>
      [...open.values()].map(({ venue }) => ({
        origin: venue.origin,
        family: venue.family,
        health: venue.health(),
      })),
    async close() {
      for (const { rest } of open.values()) rest.close();
    },
  };
}

function openVenue(origin: string, family: StrategyType, { wallNow, after, log }: VenuesParts) {
  const rest = new VenueRest({
    origin,
    wallNow,
    after,
    time: { path: TIME_PATHS[family], weight: WEIGHTS[family].time },
  });
  const ask = rest.ask.bind(rest, null);
  let areLimitsKnown = false;
  let limitsAskedAt: number | null = null;
  const learn = (rates: RateLimits) => {
    areLimitsKnown = true;
    rest.limits.learn(rates);
  };
  const rules = new VenueRules({ family, wallNow, ask, learn, log });
  /**
   * Limits are published with the rules of symbols: until they are known, polls are as rare as at the most
   * restrictive venue.
   */
  const learnLimits = () => {
    if (areLimitsKnown || (limitsAskedAt !== null && wallNow() - limitsAskedAt < LIMITS_RETRY_MS)) return;
    limitsAskedAt = wallNow();
    rules
      .of(LISTED_EVERYWHERE)
      .catch((error) => log.warn({ err: error, origin }, "a venue's limits are not known"));
  };
  const prices = new VenuePrices({ family, wallNow, ask });
  const polls = new PollBudget({ limits: rest.limits, wallNow });
  const shared: Omit<AccountRest, "accountId" | "ask"> = {
    family,
    wallNow,
    venueNow: () => rest.clock.now(),
    rules,
    prices,
    log,
  };
  const venue: Venue = {
    origin,
    family,
    rules: (symbol) => rules.of(symbol),
    doubtRules: (symbol) => rules.doubt(symbol),
    prices: () => prices.all(),
    pausedUntil: () => rest.limits.pausedUntil(),
    health: () => rest.health.now(),
    mayPoll(weight) {
      learnLimits();
      return polls.take(weight);
    },
    account(accountId, credentials, { isPolling = false, isKeyCheck } = {}) {
      const asker = { accountId, credentials };
      const ask = (call: RestCall) =>
        rest.ask(asker, {
          ...call,
          ...(isPolling && { priority: "POLL" }),
          ...(isKeyCheck && { isKeyCheck }),
        });
      return CLIENTS[family]({ ...shared, accountId, ask });
    },
  };
  return { venue, rest };
}
