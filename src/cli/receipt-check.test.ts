// Receipts without a recording: each must follow from its own figures and from the receipts before it. The
// figures are those of the worked examples. Source: strict fills, section 15.
import { describe, expect, test } from "vitest";
import type { MarketTrade } from "../domain/market.ts";
import { BUNDLED_TIERS } from "../engine/matching/terms.ts";
import { decimal, type Price, type Quantity, ZERO } from "../money/decimal.ts";
import { checkReceipts } from "./receipt-check.ts";
import { readReceipts } from "./receipt-file.ts";
import type { Recorded } from "./recorded-books.ts";

const BOOK = { lastUpdateId: 77, eventTime: 990, receivedAt: 996, tickerUpdateId: null, lastTradeId: 4 };
const COMMON = {
  ...{ symbol: "BTCUSDT", market: "SPOT", profile: "strict", profileVersion: 1 },
  ...{ admittedAt: 950, latencyMs: 50, arrivedAt: 1_000, side: "BUY" },
  terms: { queue: "trades", refreshMs: 5_000 },
} as const;

/** W1: a market order over three levels. */
const WALK = [
  ["60000.00000000", "0.00050000", "0.00050000", "0.00150000"],
  ["60001.00000000", "0.00050000", "0.00050000", "0.00100000"],
  ["60010.00000000", "0.00100000", "0.00050000", "0.00050000"],
].map(([price, displayed, taken, remaining], index) => ({
  ...{
    tradeId: index + 1,
    orderId: 1,
    ...COMMON,
    cause: "WALK",
    at: 1_000,
    price,
    quantity: taken,
    remaining,
  },
  book: BOOK,
  levels: [
    {
      ...{ index, price, displayed, fromTicker: false, newerTrades: "0.00000000", ownConsumed: "0.00000000" },
      ...{ available: displayed, taken, step: "0.00001000" },
    },
  ],
  ...{ queue: null, marketTrade: null },
  fee: { rate: "0.00100000", tier: "regular", isMaker: false, amount: "0.00000050", asset: "BTC" },
}));

/** How the queue of W6 moved. */
const HISTORY = [
  ["0.00100000", "0.00000000", 1_000],
  ["0.00070000", "0.00030000", 1_500],
  ["0.00040000", "0.00060000", 1_600],
  ["0.00000000", "0.00120000", 1_900],
].map(([ahead, tradedAtPrice, time]) => ({ time, ahead, tradedAtPrice, canceledAhead: "0.00000000" }));

/** W6: an open order that two trades fill, the first of which goes to those in front at first. */
const QUEUE = [
  {
    id: 6,
    before: "0.00040000",
    traded: "0.00060000",
    given: "0.00060000",
    fill: "0.00020000",
    left: "0.00100000",
  },
  {
    id: 7,
    before: "0.00000000",
    traded: "0.00120000",
    given: "0.01000000",
    fill: "0.00080000",
    left: "0.00080000",
  },
].map(({ id, before, traded, given, fill, left }, index) => ({
  ...{ tradeId: index + 4, orderId: 2, ...COMMON, cause: "TRADE_AT_PRICE", at: 2_000 + index },
  ...{ price: "59999.99000000", quantity: fill, remaining: left, book: null, levels: [] },
  queue: {
    ...{ model: "trades", aheadAtPlacement: "0.00100000", bookAtPlacement: BOOK, tradedAtPrice: traded },
    ...{ canceledAhead: "0.00000000", aheadBefore: before, ahead: "0.00000000" },
    history: HISTORY,
  },
  marketTrade: {
    ...{ aggregateId: id, price: "59999.99000000", quantity: given, time: 1_900 + index, available: given },
    step: "0.00001000",
  },
  fee: {
    rate: "0.00100000",
    tier: "regular",
    isMaker: true,
    amount: index === 0 ? "0.00000020" : "0.00000080",
    asset: "BTC",
  },
}));

const ROWS = [...WALK, ...QUEUE];

async function checked(
  rows: readonly unknown[],
  recorded: Recorded | null = null,
  options: Parameters<typeof checkReceipts>[2] = {},
) {
  const read = readReceipts([{ name: "receipts", text: JSON.stringify(rows) }]);
  return await checkReceipts(read, recorded, options);
}

async function isFound(rows: readonly unknown[]): Promise<boolean> {
  try {
    return (await checked(rows)).some(({ wrong, unknown }) => wrong.length + unknown.length > 0);
  } catch {
    return true;
  }
}

test("worked examples follow from their own figures", async () => {
  for (const { wrong, unknown } of await checked(ROWS))
    expect({ wrong, unknown }).toEqual({ wrong: [], unknown: [] });
});

type Change = readonly [path: string, value: unknown];

describe("a changed figure is found", () => {
  test.each<readonly [trade: number, ...Change]>([
    [2, "levels.0.displayed", "0.00040000"],
    [2, "levels.0.ownConsumed", "0.00001000"],
    [2, "levels.0.available", "0.00051000"],
    [2, "levels.0.taken", "0.00049000"],
    [2, "levels.0.price", "60002.00000000"],
    [2, "levels.0.step", "0.00010000"],
    [2, "price", "60002.00000000"],
    [2, "quantity", "0.00049000"],
    [2, "remaining", "0.00090000"],
    [2, "book.tickerUpdateId", 76],
    [2, "book.receivedAt", 1_001],
    [2, "fee.rate", "0.00090000"],
    [2, "fee.amount", "0.00000051"],
    [2, "fee.isMaker", true],
    [2, "fee.asset", "USDT"],
    [1, "fee.tier", "vip3"],
    [2, "terms.refreshMs", 4_000],
    [2, "arrivedAt", 999],
    [2, "cause", "BOOK_CROSSED"],
    [4, "queue.aheadBefore", "0.00050000"],
    [4, "queue.ahead", "0.00010000"],
    [4, "queue.tradedAtPrice", "0.00050000"],
    [4, "queue.canceledAhead", "0.00080000"],
    [4, "queue.model", "power-1"],
    [4, "queue.history.0.ahead", "0.00110000"],
    [4, "queue.history.0.ahead", "0.00090000"],
    [4, "queue.history.0.tradedAtPrice", "0.00010000"],
    [4, "queue.history.0.time", 999],
    [4, "queue.history.1.ahead", "0.00080000"],
    [4, "queue.history.1.ahead", "0.00060000"],
    [4, "queue.history.1.ahead", null],
    [4, "queue.history.1.tradedAtPrice", "0.00020000"],
    [4, "queue.history.1.tradedAtPrice", "0.00040000"],
    [4, "queue.history.1.canceledAhead", "0.00010000"],
    [4, "queue.history.1.time", 1_601],
    [4, "queue.history.2.ahead", "0.00040001"],
    [4, "queue.history.2.tradedAtPrice", "0.00060001"],
    [4, "queue.history.2.canceledAhead", "0.00000001"],
    [4, "queue.history.2.time", 1_901],
    [4, "queue.history.3.ahead", "0.00000001"],
    [4, "queue.history.3.tradedAtPrice", "0.00120001"],
    [4, "queue.history.3.canceledAhead", "0.00000001"],
    [4, "queue.history.3.time", 1_901],
    [4, "queue.history", HISTORY.slice(0, 3)],
    [5, "queue.history", [...HISTORY, { ...HISTORY[3], time: 3_100 }]],
    [4, "queue.history", []],
    [4, "quantity", "0.00030000"],
    [4, "marketTrade.available", "0.00050000"],
    [4, "marketTrade.quantity", "0.00070000"],
    [4, "marketTrade.price", "59999.98000000"],
    [4, "marketTrade.time", 1_000],
    [4, "cause", "TRADE_THROUGH"],
    [5, "queue.aheadAtPlacement", "0.00110000"],
    [5, "queue.bookAtPlacement.lastUpdateId", 78],
    [5, "remaining", "0.00090000"],
  ])("trade %i, %s", async (tradeId, path, value) => {
    const rows: typeof ROWS = JSON.parse(JSON.stringify(ROWS));
    const row = rows.find((each) => each.tradeId === tradeId);
    const keys = path.split(".");
    const last = keys.pop() ?? "";
    // biome-ignore lint/suspicious/noExplicitAny: any place in a row.
    const holder = keys.reduce((each: any, key) => each[key], row);
    expect(holder).toHaveProperty(last);
    holder[last] = value;
    expect(await isFound(rows)).toBe(true);
  });
});

describe("a history that is not whole follows too", () => {
  test.each<readonly [what: string, history: unknown]>([
    ["after a restart: it begins where the order was noted", HISTORY.slice(1)],
    ["with points left out", [HISTORY[0], ...HISTORY.slice(2)]],
    ["of a receipt from before it was recorded", undefined],
    ["of one that has none", null],
  ])("%s", async (_, history) => {
    const rows = ROWS.map((row) => (row.queue === null ? row : { ...row, queue: { ...row.queue, history } }));
    for (const { wrong, unknown } of await checked(rows))
      expect({ wrong, unknown }).toEqual({ wrong: [], unknown: [] });
  });
});

test("what the strategy took before counts, or it is said that it is not known", async () => {
  const [first] = WALK;
  const [level] = first?.levels ?? [];
  const again = {
    ...{
      ...first,
      tradeId: 4,
      orderId: 3,
      arrivedAt: 2_234,
      at: 2_234,
      quantity: "0.00012000",
      remaining: "0.00012000",
    },
    // W4: after 1,234 ms 3,766 parts of 5,000 still count.
    levels: [{ ...level, ownConsumed: "0.00037660", available: "0.00012000", taken: "0.00012000" }],
    fee: { ...first?.fee, amount: "0.00000012" },
  };
  expect(await isFound([...WALK, again])).toBe(false);
  const [, finding] = await checked([WALK[2], again]);
  expect(finding).toMatchObject({ wrong: [], unknown: [expect.stringContaining("before trade 3")] });
  const none = {
    ...again,
    levels: [{ ...again.levels[0], ownConsumed: "0.00000000", available: "0.00050000" }],
  };
  const found = await checked([...WALK, none]);
  expect(found.at(-1)?.wrong).toEqual([expect.stringContaining("ownConsumed")]);
});

test("two orders share one trade of the market, and none is filled by more than the others left", async () => {
  const [, last] = QUEUE;
  const other = (available: string) => ({
    ...{ ...last, tradeId: 6, orderId: 9, remaining: "0.00080000" },
    marketTrade: { ...last?.marketTrade, available },
  });
  expect(await isFound([...ROWS, other("0.00920000")])).toBe(false);
  expect(await isFound([...ROWS, other("0.01000000")])).toBe(true);
});

test("a contract's order cannot have more left than before, unless it reduces a position that has grown", async () => {
  const [sample] = QUEUE;
  const filled = (tradeId: number, quantity: string, remaining: string) => ({
    ...{ ...sample, tradeId, market: "FUTURES", quantity, remaining, cause: "TRADE_THROUGH" },
    queue: {
      ...{ ...sample?.queue, aheadAtPlacement: "0.00000000", aheadBefore: "0.00000000" },
      ...{ tradedAtPrice: "0.00000000", history: null },
    },
    marketTrade: {
      ...{ ...sample?.marketTrade, aggregateId: 5 + tradeId, price: "59000.00000000", quantity },
      ...{ available: quantity, step: "0.00100000" },
    },
    fee: {
      ...{ rate: "0.00020000", tier: "regular", isMaker: true, asset: "USDT" },
      amount: quantity === "0.00400000" ? "0.04800000" : "0.02400000",
    },
    price: "60000.00000000",
  });
  const reasonsIn = async (remaining: string) =>
    (await checked([filled(1, "0.00400000", "0.01000000"), filled(2, "0.00200000", remaining)])).map(
      ({ wrong, unknown }) => ({ wrong, unknown }),
    );
  const nothing = { wrong: [], unknown: [] };
  expect(await reasonsIn("0.00600000")).toEqual([nothing, nothing]);
  expect(await reasonsIn("0.00300000")).toEqual([nothing, nothing]);
  const unknown = [expect.stringMatching(/^remaining 0\.50* is more than the 0\.0060* that trade 1 left/)];
  expect(await reasonsIn("0.50000000")).toEqual([nothing, { wrong: [], unknown }]);
});

/**
 * A recording whose book displays these bids alone, and with sellers' trades at 1,900 ms, 1,901 ms and so on.
 */
function recording(
  bids: Readonly<Record<string, string>>,
  trades: readonly (readonly [price: string, quantity: string])[] = [],
): Recorded {
  const all = trades.map(
    ([price, quantity], index): MarketTrade => ({
      ...{ aggregateId: 6 + index, side: "BID", time: 1_900 + index },
      ...{ price: decimal(price), quantity: decimal(quantity) },
    }),
  );
  const levels = Object.entries(bids).map(([price, quantity]) => ({
    ...{ price: decimal<Price>(price), displayed: decimal<Quantity>(quantity) },
    ...{ fromTicker: false, newerTrades: ZERO },
  }));
  levels.sort((one, other) => (one.price > other.price ? -1 : 1));
  return {
    bookAt: () => ({ knows: () => true, displayed: (side) => (side === "BID" ? levels : []) }),
    trade: (id) => all.find(({ aggregateId }) => aggregateId === id) ?? null,
    eventsFor: () => all.map((trade) => ({ kind: "trade", at: trade.time, trade })),
  };
}

describe("orders that share a trade of the market", () => {
  const [sample] = QUEUE;
  /** A part of the trade of 0.0007 at 59989, which is beyond the limits of both orders. */
  const partOf = (
    tradeId: number,
    {
      available,
      ...order
    }: Readonly<Record<"price" | "quantity" | "available", string>> & { orderId: number },
  ) => ({
    ...{ ...sample, ...order, tradeId, remaining: order.quantity, cause: "TRADE_THROUGH" },
    arrivedAt: 1_000 + order.orderId,
    queue: {
      ...{ ...sample?.queue, aheadAtPlacement: null, bookAtPlacement: null },
      ...{ tradedAtPrice: "0.00000000", aheadBefore: null, history: null as unknown },
    },
    marketTrade: {
      ...{ ...sample?.marketTrade, price: "59989.00000000", quantity: "0.00070000", available },
    },
    fee: { ...sample?.fee, amount: `0.000000${order.quantity.slice(5, 7)}` },
  });
  const FIRST = { orderId: 3, price: "59990.00000000", quantity: "0.00030000" };
  const SECOND = { orderId: 4, price: "59991.00000000", quantity: "0.00040000" };
  const reasonsIn = async (rows: readonly unknown[]) =>
    (await checked(rows)).map(({ wrong, unknown }) => ({ wrong, unknown }));
  const NOTHING = { wrong: [], unknown: [] };

  test("the better limit gets its part first, whichever order was placed first", async () => {
    const inOrder = [
      partOf(1, { ...SECOND, available: "0.00070000" }),
      partOf(2, { ...FIRST, available: "0.00030000" }),
    ];
    expect(await reasonsIn(inOrder)).toEqual([NOTHING, NOTHING]);
    const swapped = [
      partOf(1, { ...FIRST, available: "0.00070000" }),
      partOf(2, { ...SECOND, available: "0.00040000" }),
    ];
    const wrong = [expect.stringMatching(/after order 3, whose limit 59990\.0* is worse than 59991/)];
    expect(await reasonsIn(swapped)).toEqual([NOTHING, { wrong, unknown: [] }]);
  });

  test("at one price the earlier arrival does, but for a stop that was triggered later", async () => {
    const second = { ...SECOND, price: FIRST.price };
    const inOrder = [
      partOf(1, { ...FIRST, available: "0.00070000" }),
      partOf(2, { ...second, available: "0.00040000" }),
    ];
    expect(await reasonsIn(inOrder)).toEqual([NOTHING, NOTHING]);
    const swapped = [
      partOf(1, { ...second, available: "0.00070000" }),
      partOf(2, { ...FIRST, available: "0.00030000" }),
    ];
    const unknown = [expect.stringContaining("after order 4, which arrived later")];
    expect(await reasonsIn(swapped)).toEqual([NOTHING, { wrong: [], unknown }]);
  });

  test("a queue in the recording moves by what a better limit, placed later, has left of a trade", async () => {
    // Of 0.0007 the second order gets 0.0004, so 0.0003 go to the 0.0005 in front of the first; then 0.0003
    // come.
    const taken = partOf(1, { ...SECOND, available: "0.00070000" });
    taken.marketTrade.price = FIRST.price;
    const waiting = partOf(2, { ...FIRST, quantity: "0.00010000", available: "0.00030000" });
    Object.assign(waiting, { cause: "TRADE_AT_PRICE", arrivedAt: 1_000 });
    Object.assign(waiting.queue, {
      ...{ aheadAtPlacement: "0.00050000", bookAtPlacement: BOOK, tradedAtPrice: "0.00070000" },
      ...{ aheadBefore: "0.00020000", ahead: "0.00000000" },
    });
    const later = { aggregateId: 7, price: FIRST.price, quantity: "0.00030000", time: 1_901 };
    Object.assign(waiting.marketTrade, later);
    const trades = [
      ["59990", "0.0007"],
      ["59990", "0.0003"],
    ] as const;
    const recorded = recording({ "59990": "0.0005" }, trades);
    expect((await checked([taken, waiting], recorded))[1]).toMatchObject(NOTHING);
    const pointsOf = (secondAt: number) =>
      [
        ["0.00050000", "0.00000000", 1_000],
        ["0.00020000", "0.00070000", secondAt],
        ["0.00000000", "0.00100000", 1_901],
      ].map(([ahead, tradedAtPrice, time]) => ({ time, ahead, tradedAtPrice, canceledAhead: "0.00000000" }));
    waiting.queue.history = pointsOf(1_900);
    expect((await checked([taken, waiting], recorded))[1]).toMatchObject(NOTHING);
    waiting.queue.history = pointsOf(1_899);
    const unknown = [expect.stringContaining("queue.history has 0.00020000 in front at 1899")];
    expect((await checked([taken, waiting], recorded))[1]).toMatchObject({ wrong: [], unknown });
  });
});

test("the queue of a stop is followed in the recording from its trigger, not from its placement", async () => {
  const [sample] = QUEUE;
  const price = "59990.00000000";
  const stop = {
    ...{ ...sample, price, quantity: "0.00010000", remaining: "0.00010000" },
    fee: { ...sample?.fee, amount: "0.00000010" },
    queue: {
      ...{ ...sample?.queue, aheadAtPlacement: "0.00020000", tradedAtPrice: "0.00000000", history: null },
      ...{ bookAtPlacement: { ...BOOK, receivedAt: 1_900 }, aheadBefore: "0.00020000" },
    },
    marketTrade: {
      ...{ ...sample?.marketTrade, aggregateId: 7, price, quantity: "0.00030000", time: 1_901 },
      available: "0.00030000",
    },
  };
  // The first trade was made before the trigger, and received after it.
  const trades = [
    ["59990", "0.0001"],
    ["59990", "0.0003"],
  ] as const;
  const [found] = await checked([stop], recording({ "59990": "0.0002" }, trades));
  expect(found).toMatchObject({ wrong: [], unknown: [] });
});

describe("the rate of a fee", () => {
  const withRate = (rate: string, tier: string, amount: string) =>
    WALK.map((row) => ({ ...row, fee: { ...row.fee, rate, tier, amount } }));

  test.each([
    ["0.00060000", "vip3", "0.00000030"],
    ["0.00075000", "regular", "0.00000038"],
  ])("%s is that of %s, with the discount or without", async (rate, tier, amount) => {
    expect(await isFound(withRate(rate, tier, amount))).toBe(false);
  });

  test("that no tier of the name has is unknown, unless it is of the file that is given", async () => {
    const rows = withRate("0.00070000", "vip3", "0.00000035");
    const [found] = await checked(rows);
    expect(found).toMatchObject({ wrong: [], unknown: [expect.stringContaining("is not that of vip3")] });
    const rates = { maker: decimal<never>("0.0005"), taker: decimal<never>("0.0007") };
    const tiers = { ...BUNDLED_TIERS, SPOT: { vip3: rates } };
    for (const { wrong, unknown } of await checked(rows, null, { tiers }))
      expect([...wrong, ...unknown]).toEqual([]);
    const [none] = await checked(rows, null, { tiers: { ...BUNDLED_TIERS, SPOT: {} } });
    expect(none?.unknown).toEqual([expect.stringContaining("the rates of vip3 are not known for spot")]);
  });

  test("has the discount for makers and takers, or for neither", async () => {
    const [, , , ...queue] = ROWS;
    const found = await checked([...withRate("0.00075000", "regular", "0.00000038"), ...queue]);
    expect(found.map(({ unknown }) => unknown.length)).toEqual([0, 0, 0, 1, 1]);
  });
});

describe("a takeover", () => {
  /** F5: of 0.1, 0.06 and 0.03 were in the book above the bankruptcy price. */
  const LIQUIDATED = [
    ["57200.00000000", "0.06000000", "0.10000000"],
    ["57100.00000000", "0.03000000", "0.04000000"],
  ].map(([price, taken, remaining], index) => ({
    ...{ ...WALK[0], tradeId: index + 1, market: "FUTURES", cause: "LIQUIDATION", side: "SELL", price },
    ...{ quantity: taken, remaining, arrivedAt: 1_000, at: 1_000 },
    levels: [{ ...WALK[0]?.levels[0], index, price, displayed: taken, available: taken, taken }],
    fee: { ...WALK[0]?.fee, rate: "0.00000000", amount: "0.00000000", asset: "USDT" },
  }));
  const TAKEN = {
    ...{ ...LIQUIDATED[1], tradeId: 3, cause: "TAKEOVER", price: "57030.00000000" },
    ...{ quantity: "0.01000000", remaining: "0.01000000", book: null, levels: [] },
  };
  const PRICE_UNKNOWN = expect.stringContaining("whether 57030.00000000 is the bankruptcy price");

  test("is the rest of a liquidation, and it is said that its price is not known", async () => {
    const found = await checked([...LIQUIDATED, TAKEN]);
    expect(found.map(({ wrong, unknown }) => [wrong, unknown])).toEqual([
      [[], []],
      [[], []],
      [[], [PRICE_UNKNOWN]],
    ]);
  });

  test.each([
    ["remaining", "0.02000000", "remaining"],
    ["quantity", "0.00900000", "quantity"],
    ["price", "57150.00000000", "is better than 57100"],
  ])("with another %s is wrong", async (figure, value, says) => {
    const found = await checked([...LIQUIDATED, { ...TAKEN, [figure]: value }]);
    expect(found.at(-1)?.wrong.join()).toContain(says);
  });

  test("is wrong where the recording still has something within its price", async () => {
    const bids = { "57200": "0.06", "57100": "0.03", "56000": "5" };
    const found = await checked([...LIQUIDATED, TAKEN], recording(bids));
    expect(found.at(-1)).toMatchObject({ wrong: [], unknown: [PRICE_UNKNOWN] });
    const more = recording({ ...bids, "57050": "0.002" });
    const [, , last] = await checked([...LIQUIDATED, TAKEN], more);
    expect(last?.wrong).toEqual([expect.stringContaining("available at the better price 57050")]);
  });
});

test("a file that is no list of receipts says where", () => {
  const read = (text: string) => () => readReceipts([{ name: "a.json", text }]);
  expect(read("{")).toThrow("a.json is not JSON");
  expect(read("{}")).toThrow("a.json is not a list of receipts");
  expect(read(JSON.stringify([{ ...ROWS[0], price: "1" }]))).toThrow("at 0.price");
  expect(read(JSON.stringify([ROWS[0], { ...ROWS[1], symbol: "ETHUSDT" }]))).toThrow(
    "SPOT BTCUSDT and SPOT ETHUSDT",
  );
  expect(read(JSON.stringify([ROWS[0], ROWS[0]]))).toThrow("two receipts of trade 1");
});
