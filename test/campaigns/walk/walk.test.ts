import { expect, test } from "vitest";
import { testSeed } from "../../support/seed.ts";
import { newDirectory } from "../../support/servers/gateway.ts";
import { walkDesks } from "./desk-walk.ts";
import { PLANTED_FAULTS } from "./planted-faults.ts";
import { SETUPS } from "./setups.ts";
import { walk } from "./walk.ts";

const COMMANDS = 50_000;
const DESK_COMMANDS = 3_000;

/**
 * The least number of times that each has to have happened: a walk on which it never does proves nothing
 * about it.
 */
const EVENTS_MIN = {
  StrategyOpened: 100,
  OrderPlaced: 5_000,
  OrderFilled: 2_000,
  OrderCanceled: 2_000,
  OrderTriggered: 200,
  OrderExpired: 5,
  StrategyClosing: 20,
  StrategyClosed: 100,
  SignalExecuted: 1_000,
  SignalRejected: 2_000,
  OrderRested: 200,
  "OrderFilled WALK": 1_000,
  "OrderFilled BOOK_CROSSED": 50,
  "OrderExpired INSUFFICIENT_LIQUIDITY": 30,
  "OrderExpired UNFILLED_IOC_QUANTITY_EXPIRED": 30,
  "OrderExpired UNFILLED_FOK_ORDER_EXPIRED": 20,
};
/** Too rare to be asked of any seed, as all that is called rare here. */
const RARE_EVENTS_MIN = {
  "OrderFilled TRADE_AT_PRICE": 10,
  "OrderFilled TRADE_THROUGH": 3,
  "OrderExpired LOT_SIZE": 3,
  "OrderExpired PERCENT_PRICE_BY_SIDE": 1,
  "OrderExpired INSUFFICIENT_BALANCE": 5,
  "OrderExpired BOOK_EMPTY": 3,
};
const REFUSALS_MIN = {
  STRATEGY_NOT_LIVE: 1_000,
  STRATEGY_CLOSED: 1_000,
  MARKET_CLOSED: 100,
  MARKET_SILENT: 100,
  BOOK_EMPTY: 50,
  STOP_WOULD_TRIGGER: 200,
  INSUFFICIENT_BALANCE: 200,
  ORDER_NOT_OPEN: 1_000,
  NOTHING_TO_FILL: 1_000,
  LIMIT_MAKER_WOULD_TAKE: 10,
  "FILTER_FAILED PRICE_FILTER": 100,
  "FILTER_FAILED LOT_SIZE": 1_000,
  "FILTER_FAILED NOTIONAL": 1_000,
  "FILTER_FAILED PERCENT_PRICE_BY_SIDE": 200,
  "FILTER_FAILED MAX_POSITION": 200,
  "FILTER_FAILED MAX_NUM_ALGO_ORDERS": 10,
};
const RARE_REFUSALS_MIN = { "FILTER_FAILED MAX_NUM_ORDERS": 3 };

const FUTURES_EVENTS_MIN = {
  StrategyOpened: 100,
  OrderPlaced: 5_000,
  OrderFilled: 3_000,
  OrderCanceled: 1_000,
  OrderReserveChanged: 1_000,
  LegPlaced: 1_000,
  LegArmed: 50,
  LegFired: 200,
  LegCanceled: 500,
  LegExpired: 200,
  LeverageChanged: 500,
  FundingSettled: 3_000,
  StrategyClosing: 20,
  StrategyClosed: 100,
  "OrderExpired NOTHING_TO_REDUCE": 50,
  "OrderExpired INSUFFICIENT_BALANCE": 20,
  "OrderPlaced LIQUIDATION": 200,
  "LegCanceled ENTRY_CANCELED": 100,
  OrderRested: 500,
  "OrderFilled WALK": 1_000,
  "OrderFilled BOOK_CROSSED": 200,
  "OrderFilled TRADE_AT_PRICE": 30,
  "OrderFilled TRADE_THROUGH": 30,
  "OrderFilled LIQUIDATION": 100,
  "OrderFilled TAKEOVER": 20,
  "OrderExpired INSUFFICIENT_LIQUIDITY": 100,
  "OrderExpired UNFILLED_IOC_QUANTITY_EXPIRED": 100,
};
const FUTURES_RARE_EVENTS_MIN = {
  "LegExpired ENTRY_ONLY_REDUCED": 5,
  "LegExpired ENTRY_EXPIRED": 3,
  "LegExpired LEG_EXISTS": 1,
  "OrderExpired SELF_TRADE": 3,
};
const FUTURES_REFUSALS_MIN = {
  STRATEGY_NOT_LIVE: 1_000,
  STRATEGY_CLOSED: 1_000,
  CONTRACT_NOT_TRADING: 100,
  MARKET_SILENT: 100,
  BOOK_EMPTY: 30,
  POSITION_LIMIT_EXCEEDED: 300,
  MARGIN_INSUFFICIENT: 50,
  REDUCE_ONLY_REJECTED: 100,
  NOTIONAL_TOO_SMALL: 100,
  LEG_EXISTS: 200,
  LEG_OF_REDUCTION: 30,
  POST_ONLY_WOULD_TAKE: 30,
  FILL_OR_KILL_UNFILLED: 50,
  LEG_WOULD_TRIGGER: 100,
  NO_POSITION_TO_CLOSE: 100,
  LEVERAGE_LOWERED_UNDER_POSITION: 100,
  LEVERAGE_MARGIN_INSUFFICIENT: 10,
  ORDER_NOT_OPEN: 300,
  NOTHING_TO_FILL: 1_000,
  "CONTRACT_FILTER_FAILED PRICE_FILTER": 30,
  "CONTRACT_FILTER_FAILED LOT_SIZE": 300,
  "CONTRACT_FILTER_FAILED MARKET_LOT_SIZE": 200,
  "CONTRACT_FILTER_FAILED MAX_NUM_ALGO_ORDERS": 50,
};
const FUTURES_RARE_REFUSALS_MIN = {
  COUNTERPARTY_OUT_OF_BOUNDS: 2,
  "CONTRACT_FILTER_FAILED PERCENT_PRICE": 5,
  "CONTRACT_FILTER_FAILED MAX_NUM_ORDERS": 3,
};

// A walk of each type that never changes, and one from a fresh seed each time.
const freshSeed = testSeed();
const walks = [
  [
    ...(["SPOT", 20_240_808] as const),
    { ...EVENTS_MIN, ...RARE_EVENTS_MIN },
    { ...REFUSALS_MIN, ...RARE_REFUSALS_MIN },
  ],
  ["SPOT", freshSeed, EVENTS_MIN, REFUSALS_MIN],
  [
    ...(["FUTURES", 20_240_809] as const),
    { ...FUTURES_EVENTS_MIN, ...FUTURES_RARE_EVENTS_MIN },
    { ...FUTURES_REFUSALS_MIN, ...FUTURES_RARE_REFUSALS_MIN },
  ],
  ["FUTURES", freshSeed, FUTURES_EVENTS_MIN, FUTURES_REFUSALS_MIN],
] as const;

test.each(walks)(
  `what must always hold of %s, holds through ${COMMANDS} random commands from seed %i`,
  (...row) => {
    const [type, seed, eventsMin, refusalsMin] = row;
    const { events, refusals } = walk(SETUPS[type], seed, COMMANDS);
    expect(tooRare(events, eventsMin)).toEqual([]);
    expect(tooRare(refusals, refusalsMin)).toEqual([]);
  },
);

test.each(PLANTED_FAULTS)("a walk of $type finds an engine that $what", ({ type, decides }) => {
  expect(() => walk(SETUPS[type], 20_240_808, COMMANDS, { decides })).toThrow(
    `${type}, seed 20240808, step `,
  );
});

/** The machine also decides what happens at the desks: while something has been too rare, one more walks. */
const DESK_WALKS_MAX = 5;
const DESK_OUTCOMES_MIN = {
  executed: 300,
  replayed: 200,
  "decided again": 50,
  OrderFilled: 100,
  OrderTriggered: 3,
  LegPlaced: 20,
  LegFired: 3,
  FundingSettled: 20,
  OrderRested: 10,
  "OrderFilled WALK": 20,
};

test.each([20_240_808, freshSeed])(
  `it holds through ${DESK_COMMANDS} commands at two desks on one database, from seed %i`,
  async (seed) => {
    const all: Record<string, number> = {};
    for (let walked = 0; walked < DESK_WALKS_MAX && tooRare(all, DESK_OUTCOMES_MIN).length > 0; walked += 1) {
      const { outcomes } = await walkDesks(seed + walked, DESK_COMMANDS, { directory: newDirectory() });
      for (const [name, times] of Object.entries(outcomes)) all[name] = (all[name] ?? 0) + times;
    }
    expect(tooRare(all, DESK_OUTCOMES_MIN)).toEqual([]);
  },
);

test("the listener hears of every life until the walk is done", () => {
  const heard: number[] = [];
  walk(SETUPS.SPOT, 7, 1_200, { onProgress: (done) => heard.push(done) });
  expect(heard).toEqual([500, 1_000, 1_200]);
});

test.each(["SPOT", "FUTURES"] as const)("a seed means the same walk of %s every time", (type) => {
  expect(walk(SETUPS[type], 7, 2_000)).toEqual(walk(SETUPS[type], 7, 2_000));
});

function tooRare(
  counts: Readonly<Record<string, number>>,
  least: Readonly<Record<string, number>>,
): string[] {
  return Object.entries(least).flatMap(([name, count]) => {
    const happened = counts[name] ?? 0;
    return happened < count ? [`${name}: ${happened} times, not ${count}`] : [];
  });
}
