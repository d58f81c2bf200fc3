// The venue's rate limits: what may be sent now, and when again if not. Invariants: reductions may use a
// whole budget, openings and polls a share of it; they spend weight that is counted by address evenly, so
// that exits find some at the end of a window. A 429 pauses its account as long as the venue says, a second
// one, of another account within a minute, or a 418 pauses all. One count of weight serves all accounts until
// an answer disproves it (`#compare`); orders are counted by account.
// Source: reference exchange, sections 4, 6.1 and 10.1; specification 8.1.
import { BoundedMap } from "../../concurrency/bounded-map.ts";
import { type Body, BodyFault, type Limiting, rowsOf, textOf } from "./answers.ts";

/** A header of an answer by its name in small letters; null if there is none. */
export type Header = (name: string) => string | null;

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
    /** `GET /api/v3/myTrades` without it. */
    fillsSince: 20,
    /** `GET /sapi/v1/account/apiRestrictions` */
    keyRights: 1,
    /** `userDataStream.subscribe.signature` */
    userStream: 2,
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
    /** `POST /fapi/v1/listenKey`, `PUT /fapi/v1/listenKey` */
    userStream: 1,
  },
} as const;

/**
 * Which requests go first, and how much of a budget they may use. REDUCE: reduces, cancels or protects, or is
 * needed for that; the whole budget. DOUBT: polls that show whether an order with an unknown outcome was
 * executed; many at once must leave some for what is known. OPEN: opens or enlarges a position. POLL: account
 * polls, and fees on spot, which sizes depend on. FEES: fees of contracts between polls.
 */
export type Priority = (typeof PRIORITIES)[number];
export const PRIORITIES = ["REDUCE", "DOUBT", "OPEN", "POLL", "FEES"] as const;

/** A request's cost and priority. */
export type Cost = {
  readonly weight: number;
  readonly placesOrder: boolean;
  readonly priority: Priority;
  /**
   * No order can be sent without its answer: the venue's time and its rules. It may use what exits may, and
   * does not wait for the limits to be known.
   */
  readonly isPrerequisite?: true;
};

/** A request that was let go; to be ended once. */
export type Charge = { readonly holder: string; readonly cost: Cost; readonly sentAt: number };

/** The share of a budget that each priority may use; the rest is left for higher priorities. */
export const SHARES: { readonly [P in Priority]: number } = {
  REDUCE: 1,
  DOUBT: 0.9,
  OPEN: 0.9,
  POLL: 0.8,
  FEES: 0.75,
};
/**
 * The share of weight counted by address beyond which nothing is sent that costs any, except orders that
 * reduce, and what they need. The rest is left for other processes at the address.
 */
export const ADDRESS_SHARE = 0.95;
/**
 * The share of weight counted by address that each priority also leaves unused at the beginning of a window.
 * It falls to zero by the window's end, so that a burst does not take what later exits need.
 */
export const RESERVED: { readonly [P in Priority]: number } = {
  REDUCE: 0,
  DOUBT: 0.25,
  OPEN: 0.4,
  POLL: 0.5,
  FEES: 0.65,
};
/** The share of the weight that all account polls together may take where one count serves all accounts. */
export const POLLS_SHARE = 0.5;
export const ACCOUNTS_MAX = 50_000;
const MINUTE_MS = 60_000;
const TEN_SECONDS_MS = 10_000;
/** The firewall does not say how long it is offended. */
const FIREWALL_PAUSE_MS = 30_000;
/** The longest ban of the exchange. */
const PAUSE_MS_MAX = 3 * 24 * 60 * MINUTE_MS;
/** This close to the ends of a window, ms, it is uncertain which one a count belongs to. */
const EDGE_MS = 2_000;
/** Time in which a single count for all accounts may be disproved, ms. */
const DISPROOF_MS = 1_000;
/**
 * So long after the beginning of a window, by our estimate of the venue's clock, it may not have begun there,
 * ms.
 */
const BEGINS_LATE_MS = 250;
const TOO_MANY_ORDERS_CODE = -1015;
const BANNED_STATUS = 418;
/** Counts as a 429. */
const FIREWALL_STATUS = 403;

type Account = { readonly weight: Budget; readonly orders: Map<string, Budget>; waitsUntil: number };
type Highest = { readonly holder: string; readonly at: number; readonly count: number };

export class Limits {
  readonly #wallNow: () => number;
  readonly #venueNow: () => number;
  readonly #accounts = new BoundedMap<string, Account>(ACCOUNTS_MAX);
  readonly #ofAll = new Budget();
  #rates: RateLimits = RATE_LIMITS_ASSUMED;
  /** Whether the venue has published its limits. */
  areRatesKnown = false;
  #isCountedByAccount = false;
  #highest: Highest | null = null;
  #pausedUntil = 0;
  #lastRefused: { readonly holder: string; readonly at: number } | null = null;

  constructor(parts: { readonly wallNow: () => number; readonly venueNow: () => number }) {
    this.#wallNow = parts.wallNow;
    this.#venueNow = parts.venueNow;
  }

  /** The budgets as the venue publishes them. */
  learn(rates: RateLimits): void {
    this.#rates = rates;
    this.areRatesKnown = true;
  }

  /** Until when no account may send, wall time, Unix ms; 0 if they may. */
  pausedUntil(): number {
    return this.#pausedUntil > this.#wallNow() ? this.#pausedUntil : 0;
  }

  /** The highest share of a budget that is used in its present window. */
  shareUsed(): number {
    const venueNow = this.#venueNow();
    let highest = this.#ofAll.shareUsed(venueNow, this.#rates.weight);
    for (const { orders } of this.#accounts.values()) {
      for (const [name, budget] of orders) {
        const terms = this.#rates.orders.get(name);
        if (terms !== undefined) highest = Math.max(highest, budget.shareUsed(venueNow, terms));
      }
    }
    return highest;
  }

  /**
   * The weight per ms that polls may take, so that they spread over the window and orders have the rest: an
   * even part of their share, or of what is left of it for polls if that is less. Null where each account has
   * a budget of its own.
   */
  pollWeightPerMs(): number | null {
    if (this.#isCountedByAccount) return null;
    const { windowMs, limit } = this.#rates.weight;
    const venueNow = this.#venueNow();
    const leftMs = windowEnd(venueNow, windowMs) - venueNow;
    const left = Math.max(0, this.#ofAll.left(venueNow, this.#rates.weight, SHARES.POLL));
    return Math.min((limit * POLLS_SHARE) / windowMs, left / leftMs);
  }

  /** A charge if it may be sent now, or until when not, wall time, Unix ms. */
  admit(holder: string, cost: Cost): Charge | number {
    const account = this.#accountOf(holder);
    const waitsUntil = Math.max(this.pausedUntil(), account.waitsUntil);
    if (waitsUntil > this.#wallNow()) return waitsUntil;
    const goesFirst = cost.isPrerequisite || (cost.placesOrder && cost.priority === "REDUCE");
    for (const [budget, amount, terms] of this.#budgetsOf(account, cost)) {
      const venueNow = this.#venueNow();
      // A request without weight is not delayed by an exhausted budget.
      if (amount === 0 && cost.priority === "REDUCE") continue;
      if (cost.isPrerequisite && !this.areRatesKnown) continue;
      const leftMs = windowEnd(venueNow, terms.windowMs) - venueNow;
      const isOfAddress = budget === this.#ofAll;
      const reserved = isOfAddress ? (RESERVED[cost.priority] * leftMs) / terms.windowMs : 0;
      const share = Math.min(SHARES[cost.priority], isOfAddress && !goesFirst ? ADDRESS_SHARE : 1) - reserved;
      const mayBeLate = isOfAddress && terms.windowMs - leftMs < BEGINS_LATE_MS;
      if (amount > budget.left(venueNow, terms, share, mayBeLate)) {
        const waitMs = mayBeLate ? BEGINS_LATE_MS : isOfAddress ? DISPROOF_MS : leftMs;
        return this.#wallNow() + Math.min(leftMs, waitMs);
      }
    }
    this.#ofAll.begin(cost.weight);
    account.weight.begin(cost.weight);
    if (cost.placesOrder) for (const name of this.#rates.orders.keys()) ordersOf(account, name).begin(1);
    return { holder, cost, sentAt: this.#venueNow() };
  }

  /** The request was answered with these headers; null if it was not. */
  end(charge: Charge, header: Header | null): void {
    const { holder, cost } = charge;
    const venueNow = this.#venueNow();
    const account = this.#accountOf(holder);
    const { weight, weightHeader, orders } = this.#rates;
    const counted = header === null ? "LOST" : countIn(header, weightHeader);
    if (typeof counted === "number") this.#compare(charge, counted, venueNow);
    const ended = { sentAt: charge.sentAt, venueNow };
    account.weight.end({ ...ended, cost: cost.weight, counted }, weight);
    this.#ofAll.end({ ...ended, cost: cost.weight, counted }, weight);
    if (!cost.placesOrder) return;
    for (const [name, terms] of orders) {
      const counted = header === null ? "LOST" : countIn(header, name);
      ordersOf(account, name).end({ ...ended, cost: 1, counted }, terms);
    }
  }

  /** The venue has answered that it was too much; until when the account has to wait, wall time, Unix ms. */
  refused(holder: string, limiting: Limiting, header: Header): number {
    const now = this.#wallNow();
    const until = Math.min(now + PAUSE_MS_MAX, this.#saidUntil(limiting, header));
    const account = this.#accountOf(holder);
    account.waitsUntil = Math.max(account.waitsUntil, until);
    if (limiting.status === BANNED_STATUS || this.#isSecondAccount(holder, limiting, now)) {
      this.#pausedUntil = Math.max(this.#pausedUntil, until);
    }
    return until;
  }

  #isSecondAccount(holder: string, { code }: Limiting, now: number): boolean {
    if (code === TOO_MANY_ORDERS_CODE) return false;
    const last = this.#lastRefused;
    this.#lastRefused = { holder, at: now };
    return last !== null && last.holder !== holder && now - last.at < MINUTE_MS;
  }

  /** Wall time, Unix ms. Without a time from the venue, the end of the exhausted window. */
  #saidUntil({ status, code, bannedUntil }: Limiting, header: Header): number {
    const now = this.#wallNow();
    const venueNow = this.#venueNow();
    const seconds = countIn(header, "retry-after") ?? 0;
    const said = Math.max(
      seconds > 0 ? now + seconds * 1_000 : 0,
      bannedUntil === null ? 0 : now + bannedUntil - venueNow,
    );
    if (said > now) return said;
    if (status === FIREWALL_STATUS) return now + FIREWALL_PAUSE_MS;
    const windowMs = code === TOO_MANY_ORDERS_CODE ? TEN_SECONDS_MS : MINUTE_MS;
    return now + windowEnd(venueNow, windowMs) - venueNow;
  }

  /**
   * A lower count, in an answer to a request that began after another account's higher one, disproves that
   * one count serves all accounts.
   */
  #compare({ holder, sentAt }: Charge, count: number, venueNow: number): void {
    const { windowMs } = this.#rates.weight;
    const start = windowEnd(venueNow, windowMs) - windowMs;
    // An answer may be of the window in which its request was sent, however long it was on its way.
    const isCertain = sentAt - start > EDGE_MS && venueNow - start < windowMs - EDGE_MS;
    if (!isCertain) return;
    const highest = this.#highest;
    const isOfWindow = highest !== null && highest.at > start;
    if (isOfWindow && highest.holder !== holder && sentAt > highest.at && count < highest.count) {
      this.#isCountedByAccount = true;
    }
    if (!isOfWindow || count > highest.count) this.#highest = { holder, at: venueNow, count };
  }

  #budgetsOf(account: Account, { weight, placesOrder }: Cost): readonly [Budget, number, BudgetTerms][] {
    const ofWeight = this.#isCountedByAccount ? account.weight : this.#ofAll;
    const ofOrders = [...(placesOrder ? this.#rates.orders : [])].map(
      ([name, terms]): [Budget, number, BudgetTerms] => [ordersOf(account, name), 1, terms],
    );
    return [[ofWeight, weight, this.#rates.weight], ...ofOrders];
  }

  #accountOf(holder: string): Account {
    // For an evicted account the venue has to refuse at worst one more request.
    return this.#accounts.use(holder, () => ({ weight: new Budget(), orders: new Map(), waitsUntil: 0 }));
  }
}

function ordersOf({ orders }: Account, name: string): Budget {
  const known = orders.get(name);
  if (known !== undefined) return known;
  const budget = new Budget();
  orders.set(name, budget);
  return budget;
}

function countIn(header: Header, name: string): number | null {
  const text = header(name);
  return text !== null && /^[0-9]{1,9}$/.test(text) ? Number(text) : null;
}

/** Unused budget is carried over for no longer than this, ms. */
const KEPT_MS = 1_000;

/**
 * How fast copies' accounts may be polled: at a venue that counts weight by address, all polls together have
 * a share of each minute, which they take evenly. So there is always weight for orders, and no minute is used
 * up in its first seconds.
 */
export class PollBudget {
  readonly #limits: Pick<Limits, "pollWeightPerMs">;
  readonly #wallNow: () => number;
  #credit = 0;
  #reckonedAt: number;

  constructor(parts: { readonly limits: Pick<Limits, "pollWeightPerMs">; readonly wallNow: () => number }) {
    this.#limits = parts.limits;
    this.#wallNow = parts.wallNow;
    this.#reckonedAt = parts.wallNow();
  }

  /** Whether a poll of so much weight may begin now; if so, it counts. */
  take(weight: number): boolean {
    const perMs = this.#limits.pollWeightPerMs();
    const now = this.#wallNow();
    const sinceMs = Math.max(0, now - this.#reckonedAt);
    this.#reckonedAt = now;
    if (perMs === null) return true;
    this.#credit = Math.min(this.#credit + perMs * sinceMs, Math.max(weight, perMs * KEPT_MS));
    if (this.#credit < weight) return false;
    this.#credit -= weight;
    return true;
  }
}

/** Windows of `windowMs` in which the venue grants `limit`. */
type BudgetTerms = { readonly windowMs: number; readonly limit: number };

/** `counted`: LOST if the venue never answered, null if it gave no count. Times are the venue's, Unix ms. */
type EndedRequest = {
  readonly cost: number;
  readonly counted: number | null | "LOST";
  readonly sentAt: number;
  readonly venueNow: number;
};

/**
 * A budget of the venue in its present window: what it has counted, by its headers, plus requests in flight.
 * Windows are aligned to the venue's clock. At the beginning of a window a count may still be that of the
 * window before. Such a count is used for EDGE_MS only: taken as this window's, it could block all of it.
 */
class Budget {
  #window = -1;
  #used = 0;
  /** What was used of the window before. */
  #usedBefore = 0;
  /** The highest count in answers to requests that the venue may have counted in the window before. */
  #uncertain = 0;
  #underWay = 0;

  /**
   * How much more fits into a share of the present window's limit; below zero if it is exceeded. `mayBeLate`:
   * it may be the window before.
   */
  left(venueNow: number, terms: BudgetTerms, share: number, mayBeLate = false): number {
    const used = this.#usedAt(venueNow, terms);
    const most = mayBeLate ? Math.max(used, this.#usedBefore) : used;
    return Math.floor(terms.limit * share) - most - this.#underWay;
  }

  begin(cost: number): void {
    this.#underWay += cost;
  }

  end({ cost, counted, sentAt, venueNow }: EndedRequest, terms: BudgetTerms): void {
    this.#underWay -= cost;
    this.#turnTo(venueNow, terms);
    if (counted === null) return;
    const isCertain = counted !== "LOST" && sentAt >= this.#certainFrom(terms);
    if (isCertain) this.#used = Math.max(this.#used, counted);
    else this.#used += cost;
    if (!isCertain && counted !== "LOST") this.#uncertain = Math.max(this.#uncertain, counted);
  }

  /** The used part of the limit in the present window: 0 to 1, or more. */
  shareUsed(venueNow: number, terms: BudgetTerms): number {
    return this.#usedAt(venueNow, terms) / terms.limit;
  }

  #usedAt(venueNow: number, terms: BudgetTerms): number {
    this.#turnTo(venueNow, terms);
    return venueNow < this.#certainFrom(terms) ? Math.max(this.#used, this.#uncertain) : this.#used;
  }

  #certainFrom({ windowMs }: BudgetTerms): number {
    return this.#window * windowMs + EDGE_MS;
  }

  #turnTo(venueNow: number, { windowMs }: BudgetTerms): void {
    const window = Math.floor(venueNow / windowMs);
    if (window <= this.#window) return;
    this.#usedBefore = window === this.#window + 1 ? this.#used : 0;
    this.#window = window;
    this.#used = 0;
    this.#uncertain = 0;
  }
}

/** When the window ends, the venue's time. */
function windowEnd(venueNow: number, windowMs: number): number {
  return (Math.floor(venueNow / windowMs) + 1) * windowMs;
}

/**
 * The budgets that a venue publishes in the `rateLimits` of its exchangeInfo, and the headers that carry
 * their counts.
 */
export type RateLimits = {
  readonly weight: BudgetTerms;
  readonly weightHeader: string;
  /** By the name of their header. */
  readonly orders: ReadonlyMap<string, BudgetTerms>;
};

const INTERVALS: ReadonlyMap<string, { readonly letter: string; readonly ms: number }> = new Map([
  ["SECOND", { letter: "s", ms: 1_000 }],
  ["MINUTE", { letter: "m", ms: 60_000 }],
  ["HOUR", { letter: "h", ms: 3_600_000 }],
  ["DAY", { letter: "d", ms: 86_400_000 }],
]);

/** Assumed limits until the venue has published its own: lower than any venue's. */
export const RATE_LIMITS_ASSUMED: RateLimits = {
  weight: { windowMs: 60_000, limit: 1_200 },
  weightHeader: "x-mbx-used-weight-1m",
  orders: new Map([["x-mbx-order-count-10s", { windowMs: 10_000, limit: 50 }]]),
};

/** Throws a BodyFault if they make no sense. Kinds that are not known are left out. */
export function readRateLimits(value: unknown): RateLimits {
  const rows = rowsOf(value).map((row) => ({ type: textOf(row, "rateLimitType"), ...termsOf(row) }));
  const weight = rows.find(({ type }) => type === "REQUEST_WEIGHT");
  const orders = rows.filter(({ type }) => type === "ORDERS");
  return {
    weight: weight?.terms ?? RATE_LIMITS_ASSUMED.weight,
    weightHeader:
      weight === undefined ? RATE_LIMITS_ASSUMED.weightHeader : `x-mbx-used-weight-${weight.span}`,
    orders: new Map(orders.map(({ span, terms }) => [`x-mbx-order-count-${span}`, terms])),
  };
}

function termsOf(row: Body): { readonly span: string; readonly terms: BudgetTerms } {
  const interval = INTERVALS.get(textOf(row, "interval"));
  const { intervalNum, limit } = row;
  if (interval === undefined || !isCount(intervalNum) || !isCount(limit)) {
    throw new BodyFault("a rate limit is not understood");
  }
  return {
    span: `${intervalNum}${interval.letter}`,
    terms: { windowMs: intervalNum * interval.ms, limit },
  };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}
