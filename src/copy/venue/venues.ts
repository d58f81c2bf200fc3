// All venues of a process: one for each origin and type, created at its first use. The code that opened them
// closes them; requests in flight then get no answer.
import type { Logger } from "pino";
import { BoundedMap } from "../../concurrency/bounded-map.ts";
import { SingleFlight } from "../../concurrency/periodic-task.ts";
import type { Timers } from "../../concurrency/time.ts";
import type { StrategyType } from "../../domain/account.ts";
import type { SymbolRules } from "../../domain/symbol.ts";
import type { VenueReport } from "../../domain/venue-report.ts";
import { bundledBrackets } from "../../market/brackets/bundled.ts";
import { parseContractRules } from "../../market/client/rules/contract-rules.ts";
import { parseSymbolRules } from "../../market/client/rules/symbol-rules.ts";
import { type Price, parseDecimal } from "../../money/decimal.ts";
import { createClient } from "./account.ts";
import { type Body, mapped, objectOf, rowsOf } from "./answers.ts";
import { type Limits, PollBudget, type RateLimits, readRateLimits, WEIGHTS } from "./limits.ts";
import { type AccountRest, URGENT } from "./orders.ts";
import { type RestCall, VenueRest } from "./signed-rest.ts";
import { UserStreams } from "./user-streams.ts";
import type { Venue, VenueAnswer, VenueClient } from "./venue.ts";

export type Venues = {
  /** The same for the same origin and type. */
  venue(origin: string, type: StrategyType): Venue;
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

export function createVenues(parts: VenuesParts): Venues {
  const open = new Map<string, ReturnType<typeof openVenue>>();
  return {
    venue(origin, type) {
      const name = `${type} ${origin}`;
      const known = open.get(name);
      if (known !== undefined) return known.venue;
      const made = openVenue(origin, type, parts);
      open.set(name, made);
      return made.venue;
    },
    reports: () =>
      [...open.values()].map(({ venue }) => ({
        origin: venue.origin,
        type: venue.type,
        health: venue.health(),
      })),
    async close() {
      for (const { rest, streams } of open.values()) {
        streams.close();
        rest.close();
      }
    },
  };
}

function openVenue(origin: string, type: StrategyType, { wallNow, after, log }: VenuesParts) {
  const time = { path: TIME_PATHS[type], weight: WEIGHTS[type].time };
  const rest = new VenueRest({ origin, wallNow, after, time });
  const { limits } = rest;
  const published = { type, wallNow, ask: rest.ask.bind(rest, null), limits, log };
  const rules = new VenueRules(published);
  const prices = new VenuePrices(published);
  let limitsAskedAt: number | null = null;
  /**
   * Limits are published with the rules of symbols: until they are known, polls are as rare as at the most
   * restrictive venue.
   */
  const learnLimits = () => {
    const isAsked = limitsAskedAt !== null && wallNow() - limitsAskedAt < LIMITS_RETRY_MS;
    if (limits.areRatesKnown || isAsked) return;
    limitsAskedAt = wallNow();
    rules
      .of(LISTED_EVERYWHERE)
      .catch((error) => log.warn({ err: error, origin }, "a venue's limits are not known"));
  };
  const polls = new PollBudget({ limits, wallNow });
  const streams = new UserStreams({
    ...{ origin, type, rest, wallNow, after },
    onRefused: (reason) => log.warn({ origin, reason }, "a venue refuses sockets; accounts are polled alone"),
  });
  const venueNow = () => rest.clock.now();
  const shared: Omit<AccountRest, "ask" | "listen"> = { type, wallNow, venueNow, rules, prices, log };
  const venue: Venue = {
    origin,
    type,
    rules: (symbol) => rules.of(symbol),
    doubtRules: (symbol) => rules.doubt(symbol),
    prices: () => prices.all(),
    now: venueNow,
    health: () => ({ ...rest.health(), streams: streams.live }),
    mayPoll(weight) {
      learnLimits();
      return polls.take(weight);
    },
    account(accountId, credentials, options = {}) {
      const asker = { accountId, credentials };
      const ask = (call: RestCall) => rest.ask(asker, { ...call, ...options });
      const listen: VenueClient["listen"] = (onEvent) => streams.listen(asker, onEvent);
      return createClient({ ...shared, ask, listen });
    },
  };
  return { venue, rest, streams };
}

// Published data of a venue: symbol rules, its budgets, which come with them, and prices. Rules are fetched
// again once an hour; while that fails, the old ones stay in use, since the venue checks every order anyway.
// A missing symbol is requested again after a minute. Spot requests name one symbol, contracts are always
// listed all. The venue shows brackets to accounts only: a contract without brackets of our own has none
// here. Prices value balances: last prices of spot pairs, mark prices of contracts, fetched for all symbols
// at once when a caller needs them and the cache is too old. Source: reference exchange, sections 5.7, 6.1, 9
// and 10.1.

export const RULES_AGE_MAX_MS = 3_600_000;
/** For a missing symbol, and for rules that could not be fetched again. */
export const RULES_RETRY_MS = 60_000;
/**
 * Rules fetched because of a doubt are not doubted again this long, ms: many copies are rejected for the same
 * rules at once.
 */
export const RULES_DOUBT_MS = 5_000;
const SYMBOLS_MAX = 5_000;
const UNKNOWN_SYMBOL_CODE = -1121;

type Known = { readonly rules: SymbolRules | null; askAgainAt: number };
type Parts = {
  readonly type: StrategyType;
  readonly wallNow: () => number;
  readonly ask: (call: RestCall) => Promise<VenueAnswer<unknown>>;
  readonly limits: Pick<Limits, "learn">;
  readonly log: Pick<Logger, "warn">;
};
type Listing = { readonly rates: RateLimits; readonly rows: readonly Body[] };

export class VenueRules {
  readonly #parts: Parts;
  readonly #known = new BoundedMap<string, Known>(SYMBOLS_MAX);
  /** By symbol that the venue has listed. */
  readonly #doubtedAt = new BoundedMap<string, number>(SYMBOLS_MAX);
  /** By symbol, or, where all are listed at once, by ALL. */
  readonly #underWay = new Map<string, Promise<VenueAnswer<null>>>();
  #allAskedAt: number | null = null;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Null if the venue does not list it. */
  async of(symbol: string): Promise<VenueAnswer<SymbolRules | null>> {
    const known = this.#known.get(symbol);
    if (known !== undefined && this.#parts.wallNow() < known.askAgainAt) return ok(known.rules);
    const isKnownAsMissing = known === undefined && this.#wereAllAskedLately();
    if (isKnownAsMissing) return ok(null);
    const answer = await this.#asked(symbol);
    if (answer.kind === "OK") return ok(this.#known.get(symbol)?.rules ?? null);
    if (known === undefined) return answer;
    known.askAgainAt = this.#parts.wallNow() + RULES_RETRY_MS;
    return ok(known.rules);
  }

  /** The venue seems to apply other rules than these: they are fetched again at their next use. */
  doubt(symbol: string): void {
    const known = this.#known.get(symbol);
    const now = this.#parts.wallNow();
    const doubtedAt = this.#doubtedAt.get(symbol) ?? Number.NEGATIVE_INFINITY;
    if (known === undefined || now - doubtedAt < RULES_DOUBT_MS) return;
    this.#doubtedAt.set(symbol, now);
    known.askAgainAt = now;
  }

  #wereAllAskedLately(): boolean {
    return this.#allAskedAt !== null && this.#parts.wallNow() - this.#allAskedAt < RULES_RETRY_MS;
  }

  /** One request at a time for all callers that need the same. */
  #asked(symbol: string): Promise<VenueAnswer<null>> {
    const name = this.#parts.type === "SPOT" ? symbol : ALL;
    const underWay = this.#underWay.get(name);
    if (underWay !== undefined) return underWay;
    const asked = (this.#parts.type === "SPOT" ? this.#askForPair(symbol) : this.#askForContracts()).finally(
      () => this.#underWay.delete(name),
    );
    this.#underWay.set(name, asked);
    return asked;
  }

  async #askForPair(symbol: string): Promise<VenueAnswer<null>> {
    const answer = await this.#listing("/api/v3/exchangeInfo", { symbol }, WEIGHTS.SPOT.rules);
    const isUnlisted = answer.kind === "REFUSED" && answer.code === UNKNOWN_SYMBOL_CODE;
    if (answer.kind !== "OK" && !isUnlisted) return answer;
    const row = answer.kind === "OK" ? answer.value.rows.find((each) => each.symbol === symbol) : undefined;
    this.#keep(symbol, row === undefined ? null : this.#rulesOf(row));
    return ok(null);
  }

  async #askForContracts(): Promise<VenueAnswer<null>> {
    const answer = await this.#listing("/fapi/v1/exchangeInfo", {}, WEIGHTS.FUTURES.rules);
    if (answer.kind !== "OK") return answer;
    const listed = answer.value.rows.flatMap((row) =>
      typeof row.symbol === "string" ? [[row.symbol, row] as const] : [],
    );
    this.#known.clear();
    for (const [symbol, row] of listed) this.#keep(symbol, this.#rulesOf(row));
    this.#allAskedAt = this.#parts.wallNow();
    return ok(null);
  }

  async #listing(
    path: string,
    parameters: RestCall["parameters"] & object,
    weight: number,
  ): Promise<VenueAnswer<Listing>> {
    const call = { method: "GET", path, parameters, weight, ...URGENT, isPrerequisite: true } as const;
    const listing = mapped(await this.#parts.ask(call), (value) => {
      const body = objectOf(value);
      return { rates: readRateLimits(body.rateLimits), rows: rowsOf(body.symbols) };
    });
    if (listing.kind === "OK") this.#parts.limits.learn(listing.value.rates);
    return listing;
  }

  /**
   * Null if it is no market of ours, or if its row makes no sense: wrong rules would let wrong orders pass.
   */
  #rulesOf(row: Body): SymbolRules | null {
    const parsed = this.#parts.type === "SPOT" ? parseSymbolRules(row) : contractRulesOf(row);
    if ("rules" in parsed) return parsed.rules;
    if ("fault" in parsed) {
      this.#parts.log.warn({ symbol: row.symbol, fault: parsed.fault }, "a venue's rules make no sense");
    }
    return null;
  }

  #keep(symbol: string, rules: SymbolRules | null): void {
    const ageMs = rules === null ? RULES_RETRY_MS : RULES_AGE_MAX_MS;
    this.#known.set(symbol, { rules, askAgainAt: this.#parts.wallNow() + ageMs });
  }
}

const ALL = "";

function contractRulesOf(row: Body) {
  const symbol = String(row.symbol);
  return parseContractRules(row, new Map([[symbol, bundledBrackets.get(symbol) ?? []]]));
}

function ok<Value>(value: Value): VenueAnswer<Value> {
  return { kind: "OK", value };
}

export const PRICES_AGE_MAX_MS = 2_000;
/**
 * While the venue's limits permit no request, older prices are used up to this age, ms: no exit waits for
 * newer ones.
 */
export const PRICES_AGE_LIMITED_MS = 60_000;
/** After a failure prices are not requested again this long, ms. */
const PRICES_RETRY_MS = 500;

export type Prices = ReadonlyMap<string, Price>;

const ROUTES = {
  SPOT: { path: "/api/v3/ticker/price", weight: WEIGHTS.SPOT.prices, key: "price" },
  FUTURES: { path: "/fapi/v1/premiumIndex", weight: WEIGHTS.FUTURES.prices, key: "markPrice" },
} as const;

export class VenuePrices {
  readonly #parts: Parts;
  #last: { readonly answer: VenueAnswer<Prices>; readonly askAgainAt: number } | null = null;
  #known: { readonly prices: Prices; readonly at: number } | null = null;
  readonly #request = new SingleFlight(() => this.#asked());

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async all(): Promise<VenueAnswer<Prices>> {
    if (this.#last !== null && this.#parts.wallNow() < this.#last.askAgainAt) return this.#last.answer;
    return await this.#request.run();
  }

  async #asked(): Promise<VenueAnswer<Prices>> {
    const { path, weight, key } = ROUTES[this.#parts.type];
    const askedAt = this.#parts.wallNow();
    const body = await this.#parts.ask({ method: "GET", path, weight, ...URGENT });
    const answer = this.#knownIfLimited(mapped(body, (value) => pricesOf(value, key)));
    if (answer.kind === "OK" && body.kind === "OK") this.#known = { prices: answer.value, at: askedAt };
    const askAgainAt =
      answer.kind === "OK" ? askedAt + PRICES_AGE_MAX_MS : this.#parts.wallNow() + PRICES_RETRY_MS;
    this.#last = { answer, askAgainAt };
    return answer;
  }

  #knownIfLimited(answer: VenueAnswer<Prices>): VenueAnswer<Prices> {
    const known = this.#known;
    const isLimited = answer.kind === "DELAYED" && answer.why === "LIMITED";
    if (!isLimited || known === null || this.#parts.wallNow() - known.at > PRICES_AGE_LIMITED_MS)
      return answer;
    return { kind: "OK", value: known.prices };
  }
}

/** Rows without a readable price are left out. */
function pricesOf(value: unknown, key: string): Prices {
  const prices = new Map<string, Price>();
  for (const row of rowsOf(value)) {
    const text = row[key];
    const price = typeof text === "string" ? parseDecimal(text) : 0n;
    if (typeof row.symbol === "string" && typeof price === "bigint" && price > 0n) {
      prices.set(row.symbol, price as Price);
    }
  }
  return prices;
}
