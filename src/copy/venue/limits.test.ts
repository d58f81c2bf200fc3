// When a request may be sent, by the venue's headers.
import { expect, test } from "vitest";
import { createManualTime, type ManualTime } from "../../concurrency/testing/manual-time.ts";
import { BodyFault } from "./answers.ts";
import { type Cost, type Header, Limits, RATE_LIMITS_ASSUMED, readRateLimits } from "./limits.ts";

const ORDER: Cost = { weight: 1, placesOrder: true, priority: "REDUCE" };
const LOOK: Cost = { weight: 20, placesOrder: false, priority: "POLL" };
const QUERY: Cost = { weight: 4, placesOrder: false, priority: "REDUCE" };
const WEIGHT = "x-mbx-used-weight-1m";
const ORDERS = "x-mbx-order-count-10s";
const ROWS = [
  { rateLimitType: "REQUEST_WEIGHT", interval: "MINUTE", intervalNum: 1, limit: 100 },
  { rateLimitType: "ORDERS", interval: "SECOND", intervalNum: 10, limit: 5 },
  { rateLimitType: "ORDERS", interval: "DAY", intervalNum: 1, limit: 1_000 },
  { rateLimitType: "RAW_REQUESTS", interval: "MINUTE", intervalNum: 5, limit: 300_000 },
];

/** So far into a minute, the venue's clock being ahead by so much. */
function opened(aheadMs = 0, second = 20): { time: ManualTime; limits: Limits } {
  const time = createManualTime(Date.UTC(2026, 0, 1, 12, 0, second) - aheadMs);
  const limits = new Limits({ wallNow: time.now, venueNow: () => time.now() + aheadMs });
  limits.learn(readRateLimits(ROWS));
  return { time, limits };
}

const headers =
  (counts: Readonly<Record<string, number | string>>): Header =>
  (name) =>
    name in counts ? String(counts[name]) : null;

/** Sends it and has it answered with these counts; or until when it may not be sent. */
function sent(
  limits: Limits,
  holder: string,
  cost: Cost,
  counts: Record<string, number> | null,
): number | null {
  const charge = limits.admit(holder, cost);
  if (typeof charge === "number") return charge;
  limits.end(charge, counts === null ? null : headers(counts));
  return null;
}

const refusal = (status: number, code: number) =>
  ({ kind: "LIMITED", status, code, bannedUntil: null }) as const;

test("fees of contracts stop at three quarters of an address's weight, polls at four fifths, a query at nineteen twentieths, an exit at all, until the minute ends", () => {
  const { time, limits } = opened(0, 59);
  const fees: Cost = { ...LOOK, weight: 5, priority: "FEES" };
  expect(sent(limits, "a", LOOK, { [WEIGHT]: 50 })).toBeNull();
  expect(sent(limits, "a", fees, { [WEIGHT]: 55 })).toBeNull();
  expect(sent(limits, "a", QUERY, { [WEIGHT]: 59 })).toBeNull();
  expect(sent(limits, "a", LOOK, { [WEIGHT]: 80 })).toBeNull();
  expect(sent(limits, "a", fees, {})).not.toBeNull();
  expect(sent(limits, "a", LOOK, {})).not.toBeNull();
  expect(sent(limits, "a", QUERY, { [WEIGHT]: 92 })).toBeNull();
  expect(sent(limits, "a", QUERY, {})).not.toBeNull();
  expect(sent(limits, "a", ORDER, { [WEIGHT]: 95 })).toBeNull();
  expect(limits.shareUsed()).toBe(0.95);
  expect(sent(limits, "a", { ...QUERY, weight: 1 }, {})).not.toBeNull();
  expect(sent(limits, "a", ORDER, { [WEIGHT]: 99 })).toBeNull();
  expect(sent(limits, "a", ORDER, { [WEIGHT]: 100 })).toBeNull();
  expect(sent(limits, "a", ORDER, {})).not.toBeNull();
  time.advance(1_000);
  // At the venue the minute may not have begun yet.
  expect(sent(limits, "a", LOOK, {})).toBe(time.now() + 250);
  time.advance(250);
  expect(sent(limits, "a", LOOK, { [WEIGHT]: 20 })).toBeNull();
  expect(limits.shareUsed()).toBe(0.2);
});

test("openings stop at nine tenths of the weight and of the order count, exits at all of it", () => {
  const { limits } = opened(0, 59);
  const opening: Cost = { ...ORDER, priority: "OPEN" };
  expect(sent(limits, "a", opening, { [WEIGHT]: 88, [ORDERS]: 3 })).toBeNull();
  expect(sent(limits, "a", opening, { [WEIGHT]: 89, [ORDERS]: 4 })).toBeNull();
  expect(sent(limits, "a", opening, {})).not.toBeNull();
  expect(sent(limits, "a", ORDER, { [WEIGHT]: 90, [ORDERS]: 5 })).toBeNull();
  expect(sent(limits, "a", ORDER, {})).not.toBeNull();
  expect(sent(limits, "b", opening, {})).not.toBeNull();
  expect(sent(limits, "b", ORDER, { [WEIGHT]: 100, [ORDERS]: 1 })).toBeNull();
  // A request without weight is limited by the order count alone.
  expect(sent(limits, "b", { ...ORDER, weight: 0 }, { [WEIGHT]: 100, [ORDERS]: 5 })).toBeNull();
  expect(sent(limits, "b", { ...ORDER, weight: 0 }, {})).not.toBeNull();
});

test("what opens or polls leaves the more to exits the longer the minute lasts; what reduces leaves nothing", () => {
  const opening: Cost = { ...ORDER, priority: "OPEN" };
  // 90 less 40, and 80 less 50, for a whole minute; half of that in its middle.
  for (const [second, openings, polls] of [
    [0, 50, 30],
    [30, 70, 55],
  ] as const) {
    const { limits } = opened(0, second);
    const looks: Cost = { ...LOOK, weight: 1 };
    expect(sent(limits, "a", looks, { [WEIGHT]: polls - 1 })).toBeNull();
    expect(sent(limits, "a", looks, { [WEIGHT]: polls })).toBeNull();
    expect(sent(limits, "a", looks, {})).not.toBeNull();
    expect(sent(limits, "a", opening, { [WEIGHT]: openings - 1, [ORDERS]: 1 })).toBeNull();
    expect(sent(limits, "a", opening, { [WEIGHT]: openings, [ORDERS]: 2 })).toBeNull();
    expect(sent(limits, "a", opening, {})).not.toBeNull();
    // An opening that costs nothing costs something later.
    expect(sent(limits, "a", { ...opening, weight: 0 }, { [WEIGHT]: openings + 1 })).toBeNull();
    expect(sent(limits, "a", { ...opening, weight: 0 }, {})).not.toBeNull();
    expect(sent(limits, "a", ORDER, { [WEIGHT]: 94, [ORDERS]: 4 })).toBeNull();
    expect(sent(limits, "a", ORDER, { [WEIGHT]: 95, [ORDERS]: 5 })).toBeNull();
  }
});

test("polls of orders in doubt never use up a minute: what is known is still asked for, at any second", () => {
  const inDoubt: Cost = { ...LOOK, weight: 5, priority: "DOUBT" };
  // 90 less 25 for a whole minute, half of that in its middle, nothing at its end.
  for (const [second, most] of [
    [0, 65],
    [30, 75],
    [59, 85],
  ] as const) {
    const { limits } = opened(0, second);
    let used = 0;
    while (sent(limits, "a", inDoubt, { [WEIGHT]: used + 5 }) === null) used += 5;
    expect(used).toBe(most);
    expect(sent(limits, "a", { ...QUERY, weight: 1 }, { [WEIGHT]: used + 1 })).toBeNull();
    expect(sent(limits, "a", ORDER, { [WEIGHT]: used + 2 })).toBeNull();
  }
});

test("requests in flight count, and so do those that were never answered", () => {
  const { limits } = opened();
  const charges = [1, 2].map(() => limits.admit("a", LOOK));
  expect(charges.every((charge) => typeof charge === "object")).toBe(true);
  expect(typeof limits.admit("a", LOOK)).toBe("number");
  for (const charge of charges) if (typeof charge === "object") limits.end(charge, null);
  expect(typeof limits.admit("a", LOOK)).toBe("number");
});

test("a count that may be of the minute before blocks nothing longer than that is uncertain", () => {
  const { time, limits } = opened(0, 59);
  const [early, alsoEarly] = [limits.admit("a", QUERY), limits.admit("a", QUERY)];
  time.advance(1_000);
  if (typeof early === "object") limits.end(early, headers({ [WEIGHT]: 95 }));
  // The clocks differ a little: at the venue it is still the minute before.
  expect(sent(limits, "b", ORDER, { [WEIGHT]: 96 })).toBeNull();
  expect(sent(limits, "b", QUERY, {})).not.toBeNull();
  time.advance(2_000);
  // Its own 5 of this minute remain.
  expect(limits.shareUsed()).toBe(0.05);
  expect(sent(limits, "b", QUERY, { [WEIGHT]: 9 })).toBeNull();
  if (typeof alsoEarly === "object") limits.end(alsoEarly, headers({ [WEIGHT]: 97 }));
  expect(limits.shareUsed()).toBe(0.13);
  expect(sent(limits, "b", QUERY, { [WEIGHT]: 60 })).toBeNull();
  expect(limits.shareUsed()).toBe(0.6);
});

test("a venue without weight headers is not limited by what it took", () => {
  const { limits } = opened();
  for (let each = 0; each < 50; each += 1) expect(sent(limits, "a", LOOK, {})).toBeNull();
});

test("orders are counted by account, in each of their windows, by the venue's clock", () => {
  const { time, limits } = opened(7_000);
  for (let each = 1; each <= 5; each += 1) expect(sent(limits, "a", ORDER, { [ORDERS]: each })).toBeNull();
  expect(sent(limits, "a", ORDER, {})).toBe(time.now() + 10_000);
  expect(sent(limits, "b", ORDER, { [ORDERS]: 1 })).toBeNull();
  expect(sent(limits, "a", QUERY, {})).toBeNull();
  time.advance(10_000);
  expect(sent(limits, "a", ORDER, { [ORDERS]: 1, "x-mbx-order-count-1d": 1_000 })).toBeNull();
  // It is 12:00:30 there: the day lasts until midnight.
  expect(sent(limits, "a", ORDER, {})).toBe(time.now() + 11 * 3_600_000 + 59 * 60_000 + 30_000);
});

test("one count of weight serves all accounts, until an answer disproves it", () => {
  const { time, limits } = opened();
  expect(sent(limits, "a", QUERY, { [WEIGHT]: 100 })).toBeNull();
  // By address: b has used nothing but still has to wait; not long, since the count may turn out to be per
  // account.
  expect(sent(limits, "b", QUERY, {})).toBe(time.now() + 1_000);

  const other = opened();
  expect(sent(other.limits, "a", QUERY, { [WEIGHT]: 90 })).toBeNull();
  other.time.advance(1);
  expect(sent(other.limits, "b", QUERY, { [WEIGHT]: 4 })).toBeNull();
  expect(sent(other.limits, "a", LOOK, {})).toBe(other.time.now() + 39_999);
  expect(sent(other.limits, "b", LOOK, { [WEIGHT]: 24 })).toBeNull();
});

test("what is no proof disproves nothing: a request that began before, the same count, the edge of a minute", () => {
  const { time, limits } = opened();
  const early = limits.admit("b", QUERY);
  time.advance(10);
  sent(limits, "a", QUERY, { [WEIGHT]: 90 });
  if (typeof early === "object") limits.end(early, headers({ [WEIGHT]: 50 }));
  time.advance(10);
  sent(limits, "c", QUERY, { [WEIGHT]: 90 });
  time.advance(38_900);
  sent(limits, "d", QUERY, { [WEIGHT]: 3 });
  expect(typeof limits.admit("e", { ...QUERY, weight: 11 })).toBe("number");
});

test("an answer that is on its way over the end of a minute disproves nothing, however late it is", () => {
  const { time, limits } = opened(0, 59);
  const late = limits.admit("a", QUERY);
  time.advance(4_000);
  if (typeof late !== "number") limits.end(late, headers({ [WEIGHT]: 75 }));
  time.advance(1_000);
  expect(sent(limits, "b", QUERY, { [WEIGHT]: 20 })).toBeNull();
  // One count still serves both: what one account uses, the other lacks.
  time.advance(50_000);
  expect(sent(limits, "b", QUERY, { [WEIGHT]: 94 })).toBeNull();
  expect(sent(limits, "a", QUERY, {})).not.toBeNull();
});

test("a 429 pauses its account as long as the venue says, or until the window ends", () => {
  const { time, limits } = opened();
  expect(limits.refused("a", refusal(429, -1003), headers({ "retry-after": 7 }))).toBe(time.now() + 7_000);
  expect(limits.admit("a", ORDER)).toBe(time.now() + 7_000);
  expect(typeof limits.admit("b", ORDER)).toBe("object");
  expect(limits.pausedUntil()).toBe(0);
  expect(limits.refused("c", refusal(429, -1015), headers({}))).toBe(time.now() + 10_000);
  expect(limits.refused("a", refusal(429, -1003), headers({}))).toBe(time.now() + 40_000);
  expect(limits.refused("a", refusal(403, 0), headers({}))).toBe(time.now() + 30_000);
  expect(limits.admit("a", ORDER)).toBe(time.now() + 40_000);
});

test("a second account's 429 within a minute pauses all; too many orders concern one account only", () => {
  const { time, limits } = opened();
  const wait = headers({ "retry-after": 7 });
  limits.refused("a", refusal(429, -1015), wait);
  limits.refused("b", refusal(429, -1015), wait);
  limits.refused("a", refusal(429, -1003), wait);
  limits.refused("a", refusal(429, -1003), wait);
  expect(limits.pausedUntil()).toBe(0);
  time.advance(60_000);
  limits.refused("b", refusal(429, -1003), wait);
  expect(limits.pausedUntil()).toBe(0);
  time.advance(59_999);
  limits.refused("c", refusal(429, -1003), wait);
  expect(limits.pausedUntil()).toBe(time.now() + 7_000);
  expect(limits.admit("d", QUERY)).toBe(time.now() + 7_000);
  time.advance(7_000);
  expect(limits.pausedUntil()).toBe(0);
  expect(typeof limits.admit("d", QUERY)).toBe("object");
});

test("a 418 pauses all until the ban ends, by the venue's clock, and no longer than bans last", () => {
  const { time, limits } = opened(5_000);
  const bannedUntil = time.now() + 5_000 + 120_000;
  limits.refused("a", { ...refusal(418, -1003), bannedUntil }, headers({ "retry-after": 1 }));
  expect(limits.pausedUntil()).toBe(time.now() + 120_000);
  const mad = { ...refusal(418, -1003), bannedUntil: time.now() * 2 };
  expect(limits.refused("a", mad, headers({}))).toBe(time.now() + 3 * 86_400_000);
});

test("budgets are read as they are published; what makes no sense is a fault", () => {
  expect(readRateLimits(ROWS)).toEqual({
    weight: { windowMs: 60_000, limit: 100 },
    weightHeader: WEIGHT,
    orders: new Map([
      [ORDERS, { windowMs: 10_000, limit: 5 }],
      ["x-mbx-order-count-1d", { windowMs: 86_400_000, limit: 1_000 }],
    ]),
  });
  expect(readRateLimits([])).toEqual({ ...RATE_LIMITS_ASSUMED, orders: new Map() });
  for (const row of [
    { ...ROWS[0], interval: "WEEK" },
    { ...ROWS[0], limit: 0 },
    { ...ROWS[0], limit: "1" },
    1,
  ]) {
    expect(() => readRateLimits([row])).toThrow(BodyFault);
  }
});
