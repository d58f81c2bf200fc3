import { expect, test } from "vitest";
import { newDirectory } from "../support/gateway.ts";
import { OptionError } from "../support/program.ts";
import { walkDesks } from "./desk-walk.ts";
import { readOptions } from "./options.ts";
import { walk } from "./walk.ts";

const COMMANDS = 50_000;
const DESK_COMMANDS = 3_000;

/** The least number of times that each has to have happened: a walk on which it never does proves nothing about it. */
const EVENTS_MIN = {
  StrategyOpened: 100,
  OrderPlaced: 5_000,
  OrderFilled: 2_000,
  OrderCanceled: 2_000,
  OrderTriggered: 200,
  OrderExpired: 5,
  StrategyClosing: 20,
  StrategyClosed: 100,
};
/** Too rare to be asked of any seed. */
const EXPIRIES_MIN = {
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
  "FILTER_FAILED PRICE_FILTER": 100,
  "FILTER_FAILED LOT_SIZE": 1_000,
  "FILTER_FAILED NOTIONAL": 1_000,
  "FILTER_FAILED PERCENT_PRICE_BY_SIDE": 200,
  "FILTER_FAILED MAX_POSITION": 200,
  "FILTER_FAILED MAX_NUM_ORDERS": 3,
  "FILTER_FAILED MAX_NUM_ALGO_ORDERS": 10,
};

// Walks that never change, and one from a fresh seed each time.
const walks = [
  [20_240_808, { ...EVENTS_MIN, ...EXPIRIES_MIN }],
  [20_240_811, { ...EVENTS_MIN, ...EXPIRIES_MIN }],
  [Date.now() % 2 ** 32, EVENTS_MIN],
] as const;

test.each(walks)(
  `what must always hold, holds through ${COMMANDS} random commands from seed %i`,
  (...row) => {
    const [seed, eventsMin] = row;
    const { events, refusals } = walk(seed, COMMANDS);
    expect(tooRare(events, eventsMin)).toEqual([]);
    expect(tooRare(refusals, REFUSALS_MIN)).toEqual([]);
  },
);

const DESK_OUTCOMES_MIN = { executed: 300, replayed: 200, "decided again": 50 };

test.each([20_240_808, Date.now() % 2 ** 32])(
  `it holds through ${DESK_COMMANDS} commands at two desks on one database, from seed %i`,
  async (seed) => {
    const { outcomes } = await walkDesks(seed, DESK_COMMANDS, { directory: newDirectory() });
    expect(tooRare(outcomes, DESK_OUTCOMES_MIN)).toEqual([]);
  },
);

test("the listener hears of every life until the walk is done", () => {
  const heard: number[] = [];
  walk(7, 1_200, (done) => heard.push(done));
  expect(heard).toEqual([500, 1_000, 1_200]);
});

test("a flag that makes no sense is refused", () => {
  expect(readOptions(["--commands", "5", "--seed", "6"])).toEqual({ commands: 5, seed: 6, json: false });
  for (const flags of [["--commands", "0"], ["--seed", "-1"], ["--steps", "5"], ["5"]])
    expect(() => readOptions(flags), flags.join(" ")).toThrow(OptionError);
});

test("a seed means the same walk every time", () => {
  expect(walk(7, 2_000)).toEqual(walk(7, 2_000));
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
