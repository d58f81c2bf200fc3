// The futures history lists on the wire against a naive filter over what was placed: which rows, which of
// them when there are too many, and what is refused. Weeks of history are made in a second, since the
// market's time is the test's. Source: reference exchange, sections 11.9, 12.2 and 13.3.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { futuresTrader } from "../../support/futures-trader.ts";
import { contractRow, OwnContracts } from "../../support/own-contracts.ts";
import { seededRandom } from "../../support/random.ts";
import { testSeed } from "../../support/seed.ts";
import { type InProcessGateway, openInProcess } from "../../support/servers/in-process.ts";
import { refusalOf } from "../../support/spot-trader.ts";

const symbol = "BTCUSDT";
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const WEEK_MS = 7 * DAY_MS;
const ROUNDS = 260;
const QUERIES = 500;

type Row = { readonly id: number; readonly orderId: number; readonly at: number };
type Wanted = Readonly<
  Partial<Record<"orderId" | "algoId" | "fromId" | "startTime" | "endTime" | "limit", number>>
>;
type ListName = "allOrders" | "userTrades" | "allLegs";

const market = new OwnContracts([contractRow(symbol), contractRow("ETHUSDT")]);
let gateway: InProcessGateway;
let ask: ReturnType<typeof futuresTrader>;
let rowsOf: Readonly<Record<ListName, readonly Row[]>>;

const seed = testSeed();

beforeAll(async () => {
  gateway = await openInProcess({ FUTURES: market });
  const strategy = await gateway.seed("FUTURES");
  ask = futuresTrader(gateway.callsOf(strategy));
  market.show(symbol, "60000", "60000");
  market.show("ETHUSDT", "3000", "3000");
  const random = seededRandom(seed);
  const bet = { symbol, type: "MARKET", quantity: "0.001" };
  await ask.place({ symbol: "ETHUSDT", side: "BUY", type: "MARKET", quantity: "0.1" });
  for (let round = 0; round < ROUNDS; round += 1) {
    if (random() < 0.8) market.time += Math.floor(random() * 8 * HOUR_MS);
    const opened = await ask.place({ ...bet, side: "BUY" });
    expect(opened.status, JSON.stringify(opened.body)).toBe(200);
    const stop = { symbol, side: "SELL", type: "STOP_MARKET", stopPrice: "50000", closePosition: "true" };
    expect((await ask.placeLeg(stop)).status).toBe(200);
    if (random() < 0.8) market.time += Math.floor(random() * HOUR_MS);
    expect((await ask.place({ ...bet, side: "SELL" })).status).toBe(200);
  }
  const entries = await gateway.store.listEntries(strategy.strategyId);
  const events = entries.flatMap((entry) => entry.events);
  rowsOf = {
    allOrders: events
      .flatMap((event) => (event.type === "OrderPlaced" ? [event.order] : []))
      .filter((order) => order.symbol === symbol)
      .map(({ orderId, placedAt }) => ({ id: orderId, orderId, at: placedAt })),
    userTrades: events
      .flatMap((event) => (event.type === "OrderFilled" ? [event.trade] : []))
      .filter((trade) => trade.symbol === symbol)
      .map(({ tradeId, orderId, at }) => ({ id: tradeId, orderId, at })),
    allLegs: events
      .flatMap((event) => (event.type === "LegPlaced" ? [event.leg] : []))
      .map(({ legId, placedAt }) => ({ id: legId, orderId: legId, at: placedAt })),
  };
});

afterAll(async () => {
  await gateway.close();
});

const ID_NAMES = { allOrders: "orderId", userTrades: "id", allLegs: "algoId" } as const;

async function idsOf(list: ListName, wanted: Wanted): Promise<number[]> {
  const { status, body } = await ask[list]({ symbol, ...wanted });
  expect(status, JSON.stringify(body)).toBe(200);
  return body.map((row: Record<string, number>) => row[ID_NAMES[list]]);
}

/**
 * The rule in words: a week, which of its ends is given or now; of too many the newest, or of trades and by
 * id the oldest.
 */
function naive(list: ListName, wanted: Wanted): number[] {
  const { limit = 500, startTime, endTime } = wanted;
  const firstId = list === "userTrades" ? wanted.fromId : (wanted.orderId ?? wanted.algoId);
  const orderId = list === "userTrades" ? wanted.orderId : undefined;
  const isById = firstId !== undefined || orderId !== undefined;
  const isTimed = startTime !== undefined || endTime !== undefined;
  const from = startTime ?? (endTime !== undefined ? endTime - WEEK_MS : isById ? 0 : market.time - WEEK_MS);
  const until = endTime ?? (isTimed ? from + WEEK_MS : Number.POSITIVE_INFINITY);
  const fitting = rowsOf[list].filter(
    ({ id, at, ...row }) =>
      at >= from && at <= until && id >= (firstId ?? 0) && (orderId === undefined || row.orderId === orderId),
  );
  const keepsOldest = firstId !== undefined || (list === "userTrades" && startTime !== undefined);
  return (keepsOldest ? fitting.slice(0, limit) : fitting.slice(-limit)).map(({ id }) => id);
}

function at(list: ListName, index: number): Row {
  const row = rowsOf[list].at(index);
  if (row === undefined) throw new Error(`there is no row ${index}`);
  return row;
}

const LISTS = ["allOrders", "userTrades", "allLegs"] as const;

describe(`of the history from seed ${seed}`, () => {
  test("there are weeks, and more rows of a symbol than of all others", () => {
    for (const list of LISTS) {
      expect(rowsOf[list].length).toBeGreaterThanOrEqual(ROUNDS);
      expect(at(list, -1).at - at(list, 0).at).toBeGreaterThan(4 * WEEK_MS);
    }
  });

  type Case = readonly [what: string, wanted: (list: ListName) => Wanted];
  const CASES: readonly Case[] = [
    ["nothing: the last week", () => ({})],
    ["a limit: the newest of the last week", () => ({ limit: 3 })],
    ["a start: the week from there", (list) => ({ startTime: at(list, 40).at })],
    ["a start and a limit", (list) => ({ startTime: at(list, 40).at, limit: 4 })],
    ["a start after the last", (list) => ({ startTime: at(list, -1).at + 1 })],
    ["an end: the week until there", (list) => ({ endTime: at(list, 120).at })],
    ["an end and a limit", (list) => ({ endTime: at(list, 120).at, limit: 4 })],
    ["a week", (list) => ({ startTime: at(list, 60).at, endTime: at(list, 60).at + WEEK_MS })],
    [
      "a week and a limit",
      (list) => ({ startTime: at(list, 60).at, endTime: at(list, 60).at + WEEK_MS, limit: 2 }),
    ],
    ["one millisecond", (list) => ({ startTime: at(list, 60).at, endTime: at(list, 60).at })],
  ];
  test.each(LISTS.flatMap((list) => CASES.map(([what, wanted]) => [list, what, wanted] as const)))(
    "%s answers %s",
    async (list, _what, wanted) => {
      const ids = await idsOf(list, wanted(list));
      expect(ids).toEqual(naive(list, wanted(list)));
      expect(ids).toEqual(ids.toSorted((one, other) => one - other));
    },
  );

  test.each([
    ["allOrders", "an id: the oldest from there, of all time", () => ({ orderId: at("allOrders", 5).id })],
    ["allOrders", "an id and a limit", () => ({ orderId: at("allOrders", 5).id, limit: 2 })],
    ["allLegs", "an id and a limit", () => ({ algoId: at("allLegs", 5).id, limit: 2 })],
    ["userTrades", "a first id and a limit", () => ({ fromId: at("userTrades", 5).id, limit: 2 })],
    ["userTrades", "an order: its trades, of all time", () => ({ orderId: at("userTrades", 5).orderId })],
    ["userTrades", "an order that has none", () => ({ orderId: 1_000_000 })],
  ] as const)("%s answers %s", async (list, _what, wanted) => {
    const ids = await idsOf(list, wanted());
    expect(ids).toEqual(naive(list, wanted()));
  });

  test(`${QUERIES} random questions are answered as the naive filter does`, async () => {
    const random = seededRandom(seed + 1);
    const maybe = <T>(value: T): T | undefined => (random() < 0.4 ? value : undefined);
    const pick = <T>(choices: readonly T[]): T => choices[Math.floor(random() * choices.length)] as T;
    let listed = 0;
    for (let asked = 0; asked < QUERIES; asked += 1) {
      const list = pick(LISTS);
      const rows = rowsOf[list];
      const start = pick(rows).at + pick([-1, 0, 0, 1]);
      const span = pick([0, 1, -HOUR_MS, WEEK_MS, WEEK_MS + 1, Math.floor(random() * WEEK_MS)]);
      const choices = {
        startTime: maybe(start),
        endTime: maybe(start + span),
        orderId: list === "allLegs" ? undefined : maybe(pick(rows).orderId),
        algoId: list === "allLegs" ? maybe(pick(rows).id) : undefined,
        fromId: list === "userTrades" ? maybe(pick(rows).id + pick([0, 1])) : undefined,
        limit: maybe(pick([1, 2, 7, 500, 1_000])),
      };
      const wanted: Wanted = Object.fromEntries(
        Object.entries(choices).filter(([, value]) => value !== undefined),
      );
      const { startTime, endTime, fromId } = wanted;
      const what = `${list} ${JSON.stringify(wanted)}`;
      const isSpan = startTime !== undefined && endTime !== undefined;
      const code =
        isSpan && startTime > endTime
          ? -1023
          : isSpan && endTime - startTime > WEEK_MS
            ? -4165
            : fromId !== undefined && (startTime ?? endTime) !== undefined
              ? -1128
              : null;
      if (code === null) {
        expect(await idsOf(list, wanted), what).toEqual(naive(list, wanted));
        listed += 1;
      } else {
        expect((await ask[list]({ symbol, ...wanted })).body.code, what).toBe(code);
      }
    }
    // Refusals alone would prove little.
    expect(listed).toBeGreaterThan(QUERIES / 4);
  });
});

describe("a history is refused", () => {
  test.each([
    ["without a symbol", { symbol: "" }, -1102],
    ["of a symbol that is not listed", { symbol: "NOSUCH" }, -1121],
    ["by a start that is no time", { startTime: "then" }, -1100],
    ["by an end that is no time", { endTime: "1.5" }, -1100],
    ["backwards", { startTime: 2, endTime: 1 }, -1023],
    ["over more than a week", { startTime: 1, endTime: 2 + WEEK_MS }, -4165],
    ["without rows", { limit: 0 }, -1130],
    ["with too many rows", { limit: 1_001 }, -1130],
    ["with a limit that is no number", { limit: "all" }, -1100],
  ])("%s", async (_what, parameters, code) => {
    for (const list of LISTS) {
      expect({ list, ...refusalOf(await ask[list]({ symbol, ...parameters })) }).toMatchObject({
        list,
        status: 400,
        code,
      });
    }
  });

  test("the text has the maximum length of a range", async () => {
    const answer = await ask.allOrders({ symbol, startTime: 1, endTime: 2 + WEEK_MS });
    expect(answer.body.msg).toBe("Maximum time interval is 7 days");
  });

  test("by ids that are none", async () => {
    expect(refusalOf(await ask.allOrders({ symbol, orderId: "x" }))).toMatchObject({ code: -1100 });
    expect(refusalOf(await ask.userTrades({ symbol, orderId: "x" }))).toMatchObject({ code: -1100 });
    expect(refusalOf(await ask.userTrades({ symbol, fromId: "x" }))).toMatchObject({ code: -1100 });
    expect(refusalOf(await ask.allLegs({ symbol, algoId: "x" }))).toMatchObject({ code: -1100 });
  });

  test("nothing from an id that nobody has", async () => {
    const none = "8389765589812345678";
    expect((await ask.allOrders({ symbol, orderId: none })).body).toEqual([]);
    expect((await ask.userTrades({ symbol, fromId: none })).body).toEqual([]);
    expect((await ask.allLegs({ symbol, algoId: none })).body).toEqual([]);
  });

  test("nothing on a symbol that is listed is an empty list", async () => {
    expect((await ask.allLegs({ symbol: "ETHUSDT" })).body).toEqual([]);
  });
});
