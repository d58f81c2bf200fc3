// The two history lists on the wire against a naive filter over the strategy's journal: which rows, in which
// order, and what is refused. The market and both clocks are the test's own, so that a history of weeks is
// made in seconds. Source: specification 4.1; reference exchange, sections 2, 7.5 and 7.6.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MarketStub, unfilteredRules } from "../../src/engine/testing/market-stub.ts";
import { decimal, type Price } from "../../src/money/decimal.ts";
import { seededRandom } from "../support/random.ts";
import { testSeed } from "../support/seed.ts";
import { type Call, type InProcessGateway, openInProcess } from "../support/servers/in-process.ts";
import type { WireAnswer } from "../support/signed-client.ts";

const SYMBOL = "BTCUSDT";
const OTHER_SYMBOL = "ETHUSDT";
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Enough for more rows of one symbol than a list may have. */
const ORDERS = 1_300;
const QUERIES = 400;

type Row = { readonly id: number; readonly orderId: number; readonly symbol: string; readonly at: number };
type Query = Readonly<
  Partial<Record<"orderId" | "fromId" | "startTime" | "endTime" | "limit", string | number>>
>;
type Wanted = { readonly [Name in keyof Query]: number };

const market = new MarketStub([unfilteredRules(SYMBOL), unfilteredRules(OTHER_SYMBOL)]);
let gateway: InProcessGateway;
let ask: Call;
/** What there is on `SYMBOL`, oldest first. */
let orders: Row[];
let trades: Row[];

const seed = testSeed();

beforeAll(async () => {
  gateway = await openInProcess({ SPOT: market });
  const strategy = await gateway.seed("SPOT");
  ask = gateway.callsOf(strategy);
  await makeHistory(seededRandom(seed));
  const events = (await gateway.store.listEntries(strategy.strategyId)).flatMap((entry) => entry.events);
  orders = events
    .flatMap((event) => (event.type === "OrderPlaced" ? [event.order] : []))
    .map(({ orderId, symbol, placedAt }) => ({ id: orderId, orderId, symbol, at: placedAt }))
    .filter(({ symbol }) => symbol === SYMBOL);
  trades = events
    .flatMap((event) => (event.type === "OrderFilled" ? [event.trade] : []))
    .map(({ tradeId, orderId, symbol, at }) => ({ id: tradeId, orderId, symbol, at }))
    .filter(({ symbol }) => symbol === SYMBOL);
});

afterAll(async () => {
  await gateway.close();
});

function call(method: string, path: string, parameters: Readonly<Record<string, string | number>>) {
  return ask(method, `/api/v3/${path}`, parameters);
}

/**
 * Market orders that fill and limit orders that are canceled, of two symbols, some within one millisecond.
 */
async function makeHistory(random: () => number): Promise<void> {
  const price = decimal<Price>("0.01");
  for (const symbol of [SYMBOL, OTHER_SYMBOL]) market.setQuote(symbol, { bid: price, ask: price });
  for (let count = 0; count < ORDERS; count += 1) {
    if (random() < 0.8) market.time += Math.floor(random() * 2 * HOUR_MS);
    const symbol = random() < 0.05 ? OTHER_SYMBOL : SYMBOL;
    const order = { symbol, side: "BUY", quantity: "1" };
    if (random() < 0.95) {
      const { status } = await call("POST", "order", { ...order, type: "MARKET" });
      expect(status).toBe(200);
    } else {
      const terms = { type: "LIMIT", timeInForce: "GTC", price: "0.001" };
      const { body } = await call("POST", "order", { ...order, ...terms });
      expect((await call("DELETE", "order", { symbol, orderId: body.orderId })).status).toBe(200);
    }
  }
}

const allOrders = (query: Query) => call("GET", "allOrders", { symbol: SYMBOL, ...query });
const myTrades = (query: Query) => call("GET", "myTrades", { symbol: SYMBOL, ...query });

function idsOf({ status, body }: WireAnswer): number[] {
  expect(status, JSON.stringify(body)).toBe(200);
  return body.map(({ orderId, id = orderId }: { orderId: number; id?: number }) => id);
}

/** The rule in words: all rows that fit; with a lower bound the oldest of them, without one the newest. */
function naive(rows: readonly Row[], wanted: { [Name in keyof Wanted]: number | undefined }): number[] {
  const { orderId, fromId, startTime, endTime, limit = 500 } = wanted;
  const fitting = rows.filter(
    (row) =>
      (orderId === undefined || row.orderId === orderId) &&
      (fromId === undefined || row.id >= fromId) &&
      (startTime === undefined || row.at >= startTime) &&
      (endTime === undefined || row.at <= endTime),
  );
  const count = Math.min(limit, 1_000);
  const isFromOldest = fromId !== undefined || startTime !== undefined;
  return (isFromOldest ? fitting.slice(0, count) : fitting.slice(-count)).map(({ id }) => id);
}

/** allOrders calls the first id that is wanted `orderId`. */
const naiveOrders = ({ orderId, ...others }: Wanted) => naive(orders, { ...others, fromId: orderId });
const naiveTrades = (wanted: Wanted) => naive(trades, wanted);

function at(rows: readonly Row[], index: number): Row {
  const row = rows.at(index);
  if (row === undefined) throw new Error(`there is no row ${index}`);
  return row;
}

test(`the history from seed ${seed} is long, has gaps in its ids and several rows in one millisecond`, () => {
  for (const rows of [orders, trades]) {
    expect(rows.length).toBeGreaterThan(1_050);
    expect(at(rows, -1).id).toBeGreaterThan(rows.length);
    expect(new Set(rows.map((row) => row.at)).size).toBeLessThan(rows.length - 50);
  }
});

describe(`of the history from seed ${seed}`, () => {
  type Case = readonly [what: string, query: (rows: readonly Row[]) => Wanted, count: number | null];
  // The request, and the expected number of rows where it is known.
  const BOTH: readonly Case[] = [
    ["nothing: the newest 500", () => ({}), 500],
    ["a limit: the newest so many", () => ({ limit: 3 }), 3],
    ["the greatest limit", () => ({ limit: 1_000 }), 1_000],
    ["a limit beyond it, which is clamped", () => ({ limit: 1_001 }), 1_000],
    ["a start: the oldest from there", (rows) => ({ startTime: at(rows, 5).at }), 500],
    ["a start and a limit", (rows) => ({ startTime: at(rows, 5).at, limit: 4 }), 4],
    ["a start after the last", (rows) => ({ startTime: at(rows, -1).at + 1 }), 0],
    ["an end: the newest up to there", (rows) => ({ endTime: at(rows, 700).at }), 500],
    ["an end and a limit", (rows) => ({ endTime: at(rows, 700).at, limit: 4 }), 4],
    ["an end before the first", (rows) => ({ endTime: at(rows, 0).at - 1 }), 0],
    ["24 hours", (rows) => ({ startTime: at(rows, 600).at, endTime: at(rows, 600).at + DAY_MS }), null],
    [
      "24 hours and a limit: the oldest",
      (rows) => ({ startTime: at(rows, 600).at, endTime: at(rows, 600).at + DAY_MS, limit: 2 }),
      2,
    ],
    ["one millisecond", (rows) => ({ startTime: at(rows, 600).at, endTime: at(rows, 600).at }), null],
    [
      "an end before the start, which holds nothing",
      (rows) => ({ startTime: at(rows, 600).at, endTime: at(rows, 300).at }),
      0,
    ],
  ];

  test.each<Case>([
    ...BOTH,
    ["an id: the oldest from there", (rows) => ({ orderId: at(rows, 5).id }), 500],
    ["an id and a limit", (rows) => ({ orderId: at(rows, 5).id, limit: 2 }), 2],
    ["an id between two: the next", (rows) => ({ orderId: at(rows, -1).id - 1, limit: 9 }), null],
    ["an id after the last", (rows) => ({ orderId: at(rows, -1).id + 1 }), 0],
    ["an id and a start", (rows) => ({ orderId: at(rows, 5).id, startTime: at(rows, 900).at }), null],
  ])("allOrders answers %s", async (_what, query, count) => {
    const wanted = query(orders);
    const ids = idsOf(await allOrders(wanted));
    expect(ids).toEqual(naiveOrders(wanted));
    expect(ids.length).toBe(count ?? ids.length);
    expect(ids).toEqual(ids.toSorted((one, other) => one - other));
  });

  test.each<Case>([
    ...BOTH,
    ["an order: its trades", (rows) => ({ orderId: at(rows, 5).orderId }), 1],
    ["an order that has none", (rows) => ({ orderId: at(rows, -1).orderId + 1_000 }), 0],
    ["a first id: the oldest from there", (rows) => ({ fromId: at(rows, 5).id }), 500],
    ["a first id and a limit", (rows) => ({ fromId: at(rows, 5).id, limit: 2 }), 2],
    ["a first id after the last", (rows) => ({ fromId: at(rows, -1).id + 1 }), 0],
    ["an order and a first id", (rows) => ({ orderId: at(rows, 5).orderId, fromId: at(rows, 5).id }), 1],
    ["an order and a later id", (rows) => ({ orderId: at(rows, 5).orderId, fromId: at(rows, 6).id }), 0],
  ])("myTrades answers %s", async (_what, query, count) => {
    const wanted = query(trades);
    const ids = idsOf(await myTrades(wanted));
    expect(ids).toEqual(naiveTrades(wanted));
    expect(ids.length).toBe(count ?? ids.length);
    expect(ids).toEqual(ids.toSorted((one, other) => one - other));
  });

  test(`${QUERIES} random questions are answered as the naive filter does`, async () => {
    const random = seededRandom(seed + 1);
    const maybe = <T>(value: T): T | undefined => (random() < 0.4 ? value : undefined);
    const pick = <T>(choices: readonly T[]): T => choices[Math.floor(random() * choices.length)] as T;
    const seen = { listed: 0, tooLong: 0, exclusive: 0 };
    for (let asked = 0; asked < QUERIES; asked += 1) {
      const isOfOrders = random() < 0.5;
      const rows = isOfOrders ? orders : trades;
      const start = pick(rows).at + pick([-1, 0, 0, 1]);
      const span = pick([0, 1, -HOUR_MS, DAY_MS, DAY_MS + 1, Math.floor(random() * 2 * DAY_MS)]);
      const choices = {
        startTime: maybe(start),
        endTime: maybe(start + span),
        orderId: maybe(pick(rows).orderId),
        fromId: isOfOrders ? undefined : maybe(pick(rows).id + pick([0, 1])),
        limit: maybe(pick([1, 2, 7, 500, 1_000, 5_000])),
      };
      const wanted: Wanted = Object.fromEntries(
        Object.entries(choices).filter(([, value]) => value !== undefined),
      );
      const { startTime, endTime, orderId, fromId } = wanted;
      const answer = await (isOfOrders ? allOrders(wanted) : myTrades(wanted));
      const what = `${isOfOrders ? "allOrders" : "myTrades"} ${JSON.stringify(wanted)}`;
      const isById = orderId !== undefined || fromId !== undefined;
      const isByTime = startTime !== undefined || endTime !== undefined;
      if (startTime !== undefined && endTime !== undefined && endTime - startTime > DAY_MS) {
        expect(answer.body.code, what).toBe(-1127);
        seen.tooLong += 1;
      } else if (!isOfOrders && isById && isByTime) {
        expect(answer.body.code, what).toBe(-1128);
        seen.exclusive += 1;
      } else {
        expect(idsOf(answer), what).toEqual(isOfOrders ? naiveOrders(wanted) : naiveTrades(wanted));
        seen.listed += 1;
      }
    }
    // Questions of one kind alone would prove little.
    expect(seen.listed).toBeGreaterThan(QUERIES / 4);
    expect(seen.tooLong).toBeGreaterThan(0);
    expect(seen.exclusive).toBeGreaterThan(QUERIES / 20);
  });

  test("pages that each begin after the last id of the one before hold everything once", async () => {
    for (const [list, rows, parameter] of [
      [allOrders, orders, "orderId"],
      [myTrades, trades, "fromId"],
    ] as const) {
      const ids: number[] = [];
      for (let page = [0]; page.length > 0; ids.push(...page)) {
        page = idsOf(await list({ [parameter]: (ids.at(-1) ?? 0) + 1, limit: 300 }));
      }
      expect(ids).toEqual(rows.map(({ id }) => id));
    }
  });
});

describe("both lists refuse", () => {
  const REFUSED: readonly (readonly [string, Query, number, string])[] = [
    [
      "more than 24 hours",
      { startTime: 1, endTime: DAY_MS + 2 },
      -1127,
      "More than 24 hours between startTime and endTime.",
    ],
    ["a limit of 0", { limit: 0 }, -1130, "Data sent for parameter 'limit' is not valid."],
    ["a limit below 0", { limit: -1 }, -1100, "'limit'"],
    ["a limit that is no number", { limit: "all" }, -1100, "'limit'"],
    ["a start that is no number", { startTime: "yesterday" }, -1100, "'startTime'"],
    ["a start that is a fraction", { startTime: "1.5" }, -1100, "'startTime'"],
    ["an end before 1970", { endTime: -1 }, -1100, "'endTime'"],
    ["an id that is none", { orderId: "x" }, -1100, "'orderId'"],
  ];
  test.each(REFUSED)("%s", async (_what, query, code, words) => {
    for (const list of [allOrders, myTrades]) {
      const { status, body } = await list(query);
      expect({ status, code: body.code }).toEqual({ status: 400, code });
      expect(body.msg).toContain(words);
    }
  });

  test("a request without a symbol, and one of a symbol that there is not", async () => {
    for (const path of ["allOrders", "myTrades"]) {
      expect((await call("GET", path, {})).body.code).toBe(-1102);
      expect((await call("GET", path, { symbol: "NOSUCH" })).body.code).toBe(-1121);
    }
  });

  test("nothing for being empty: an empty parameter was left out", async () => {
    const empty = { orderId: "", startTime: "", endTime: "", limit: "" };
    expect(idsOf(await allOrders(empty))).toEqual(naiveOrders({}));
    expect(idsOf(await myTrades({ ...empty, fromId: "" }))).toEqual(naiveTrades({}));
  });
});

describe("myTrades refuses -1128", () => {
  test.each<Query>([
    { orderId: 1, startTime: 1 },
    { orderId: 1, endTime: 1 },
    { orderId: 1, startTime: 1, endTime: 2 },
    { fromId: 1, startTime: 1 },
    { fromId: 1, endTime: 1 },
    { orderId: 1, fromId: 1, startTime: 1 },
  ])("%j", async (query) => {
    expect(await myTrades(query)).toMatchObject({
      status: 400,
      body: { code: -1128, msg: "Combination of optional parameters invalid." },
    });
  });
});
