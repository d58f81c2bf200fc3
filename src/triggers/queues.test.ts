// Open orders of strategies under `strict`, from the market's messages to the committed fill. The numbered
// cases are the worked examples of the model. Source: strict fills, sections 7, 8, 9 and 15.
import { describe, expect, test } from "vitest";
import type { PlaceLeg } from "../domain/command.ts";
import { slotOf } from "../domain/strategy.ts";
import { decimal, formatBriefly } from "../money/decimal.ts";
import { cleanFixtures, createFixture, startOn } from "./testing/fixture.ts";
import { standingOf } from "./testing/futures-fixture.ts";
import type { StubMarket } from "./testing/stub-market.ts";
import { twoServers } from "./testing/two-servers.ts";

const SYMBOL = "BTCUSDT";
const STRICT = { strict: {} };
const BOOK_S = {
  asks: "60000x0.0005 60001x0.0005 60010x0.001 60100x5",
  bids: "59999.99x0.001 59999x0.002 59990x1",
};

cleanFixtures();

type Fixture = Awaited<ReturnType<typeof createFixture>>;

async function strictFixture(options: Parameters<typeof createFixture>[0] = STRICT): Promise<Fixture> {
  const all = await createFixture(options);
  all.market.openBook(SYMBOL, BOOK_S);
  await all.triggers.open();
  return all;
}

/** The fills of an order in words: quantity @ price, with the fee. */
async function fillsOf({ store }: Pick<Fixture, "store">, orderId: number, strategyId = "one") {
  const trades = await store.listTrades(strategyId, { symbol: SYMBOL, orderId, limit: 100 });
  return trades.map(({ quantity, price }) => `${formatBriefly(quantity)} @ ${formatBriefly(price)}`);
}

async function receiptsOf({ store }: Pick<Fixture, "store">, orderId: number) {
  const trades = await store.listTrades("one", { symbol: SYMBOL, orderId, limit: 100 });
  return trades.flatMap(({ receipt }) => receipt ?? []);
}

/** Each step a millisecond after the one before. */
async function inTurn(
  all: Pick<Fixture, "time" | "market" | "settled">,
  steps: readonly ((market: StubMarket) => unknown)[],
): Promise<void> {
  for (const step of steps) {
    all.time.advance(1);
    step(all.market);
    await all.settled();
  }
}

/**
 * The next process, whose book is not known yet and whose past is looked up, and a trade after that look-up
 * which it does not receive.
 */
async function restartedWithMissed(before: Fixture) {
  await before.settled();
  await before.triggers.close();
  const after = startOn(before.store, before.time);
  after.market.history.push(...before.market.history);
  after.time.advance(1_000);
  await after.triggers.open();
  await after.settled();
  after.time.advance(1);
  after.market.unheard(SYMBOL, "seller", "0.0012", "59999.99");
  after.time.advance(1);
  return after;
}

/** Holds the market's answers about trades until they are released; `asked`: the first is requested. */
function heldAnswers(market: StubMarket) {
  const [asked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const answer = market.matchedBetween.bind(market);
  market.matchedBetween = async (...range) => {
    const trades = await answer(...range);
    asked.resolve();
    await gate.promise;
    return trades;
  };
  return { asked: asked.promise, release: gate.resolve };
}

const aheadOf = ({ triggers }: Pick<Fixture, "triggers">, orderId: number) => {
  const ahead = triggers.aheadOf("one", orderId);
  return ahead == null ? ahead : formatBriefly(ahead);
};

describe("at the price", () => {
  test("W6: what others display in front is traded first, then the order, in parts", async () => {
    const all = await strictFixture();
    await all.place("one", "BUY", "59999.99", { quantity: "0.001" });
    expect(aheadOf(all, 1)).toBe("0.001");
    await inTurn(all, [
      (market) => market.aggregate(SYMBOL, "buyer", "5", "59999.99"),
      (market) => market.aggregate(SYMBOL, "seller", "5", "60000"),
      (market) => market.aggregate(SYMBOL, "seller", "0.0006", "59999.99"),
    ]);
    expect([aheadOf(all, 1), await fillsOf(all, 1)]).toEqual(["0.0004", []]);
    await inTurn(all, [(market) => market.aggregate(SYMBOL, "seller", "0.0006", "59999.99")]);
    expect([aheadOf(all, 1), await fillsOf(all, 1)]).toEqual(["0", ["0.0002 @ 59999.99"]]);
    expect(await all.statusOf("one", 1)).toBe("PARTIALLY_FILLED");
    await inTurn(all, [(market) => market.aggregate(SYMBOL, "seller", "0.01", "59999.99")]);
    expect(await fillsOf(all, 1)).toEqual(["0.0002 @ 59999.99", "0.0008 @ 59999.99"]);
    const account = (await all.store.loadAccount("one"))?.account;
    const free = account?.balances.get("USDT")?.free ?? 0n;
    expect([formatBriefly(free), formatBriefly(account?.balances.get("BTC")?.free ?? 0n)]).toEqual([
      "140.00001",
      "0.000999",
    ]);
    expect(aheadOf(all, 1)).toBe(undefined);
    expect(all.market.followedBooks()).toEqual([]);
    const [first] = await receiptsOf(all, 1);
    expect(first).toMatchObject({
      cause: "TRADE_AT_PRICE",
      queue: { aheadAtPlacement: 100_000n, tradedAtPrice: 60_000n, aheadBefore: 40_000n, ahead: 0n },
      marketTrade: { quantity: 60_000n, available: 60_000n },
    });
  });

  test("W10: trades and changes of the book count in the exchange's time, not as they come", async () => {
    const all = await strictFixture();
    await all.place("one", "BUY", "59999.99", { quantity: "0.001" });
    const since = all.time.now();
    all.time.advance(1_400);
    all.market.diff(SYMBOL, { bids: "59999.99x0.0004" }, since + 1_000);
    all.market.aggregate(SYMBOL, "seller", "0.0006", "59999.99", since + 970);
    await all.settled();
    expect([aheadOf(all, 1), await fillsOf(all, 1)]).toEqual(["0.0004", []]);
    all.market.aggregate(SYMBOL, "seller", "0.0005", "59999.99", since + 1_300);
    await all.settled();
    expect(await fillsOf(all, 1)).toEqual(["0.0001 @ 59999.99"]);
  });

  test.each([
    ["trades", "0.5"],
    ["power-1", "0.3"],
    ["power-2", "0.42"],
    ["power-3", "0.492"],
  ] as const)("W9: what is canceled is taken off the front by the model %s", async (queue, ahead) => {
    const all = await createFixture({ strict: { queue } });
    all.market.openBook(SYMBOL, { asks: "60000x1", bids: "50000x0.6" });
    await all.triggers.open();
    await all.place("one", "BUY", "50000", { quantity: "0.001" });
    const at = all.time.now();
    // Behind the order 0.4 are added, then 0.5 vanish.
    all.market.diff(SYMBOL, { bids: "50000x1" }, at + 100);
    all.market.diff(SYMBOL, { bids: "50000x0.5" }, at + 200);
    all.market.diff(SYMBOL, { bids: "49000x1" }, at + 1_500);
    expect(aheadOf(all, 1)).toBe(ahead);
  });

  test.each([
    ["another one waits at its price", "50000"],
    ["it is alone at its price", "49000"],
  ])("what was added before an order was registered was not canceled before, if %s", async (_if, other) => {
    const all = await createFixture({ strict: { queue: "power-1" }, strategies: ["one", "two"] });
    all.market.openBook(SYMBOL, { asks: "60000x1", bids: "50000x1" });
    await all.triggers.open();
    await all.place("one", "BUY", other, { quantity: "0.001" });
    all.time.advance(1);
    const hold = all.storage.hold();
    const placing = all.place("two", "BUY", "50000", { quantity: "0.001" });
    await hold.reached;
    for (const bids of ["50000x0.8", "50000x2"]) {
      all.time.advance(1);
      all.market.diff(SYMBOL, { bids });
    }
    hold.release();
    await placing;
    await inTurn(all, [(market) => market.aggregate(SYMBOL, "buyer", "1", "60000")]);
    const ahead = () => formatBriefly(all.triggers.aheadOf("two", 1) ?? 0n);
    expect(ahead()).toBe("0.8");
    await inTurn(all, [
      (market) => market.diff(SYMBOL, { bids: "50000x1" }),
      (market) => market.aggregate(SYMBOL, "buyer", "1", "60000"),
    ]);
    expect(ahead()).toBe("0.4");
  });

  test("what was canceled before an order joined another one at its price does not move it forward", async () => {
    const strategies = ["one", "two"];
    const all = await createFixture({ strict: { queue: "power-1" }, strategies });
    all.market.openBook(SYMBOL, { asks: "60000x1", bids: "50000x1" });
    await all.triggers.open();
    await all.place("one", "BUY", "50000", { quantity: "0.001" });
    all.time.advance(1);
    all.market.ticker(SYMBOL, { asks: "60000x1", bids: "50000x0.6" }, { ahead: 1 });
    await all.place("two", "BUY", "50000", { quantity: "0.001" });
    await inTurn(all, [
      (market) => market.diff(SYMBOL, { bids: "50000x0.6" }),
      (market) => market.diff(SYMBOL, { bids: "50000x0.8" }),
      (market) => market.aggregate(SYMBOL, "buyer", "1", "60000"),
    ]);
    const aheads = () => strategies.map((id) => formatBriefly(all.triggers.aheadOf(id, 1) ?? 0n));
    expect(aheads()).toEqual(["0.6", "0.6"]);
    await inTurn(all, [
      (market) => market.diff(SYMBOL, { bids: "50000x0.4" }),
      (market) => market.aggregate(SYMBOL, "buyer", "1", "60000"),
    ]);
    expect(aheads()).toEqual(["0.3", "0.3"]);
  });

  test("an order whose queue is unknown is filled by no trade at its price, until a change names its level", async () => {
    const all = await strictFixture();
    all.market.loseBook(SYMBOL);
    await all.place("one", "BUY", "59999.99", { quantity: "0.001" });
    expect(aheadOf(all, 1)).toBe(undefined);
    await all.settled();
    expect(aheadOf(all, 1)).toBe(null);
    await inTurn(all, [(market) => market.aggregate(SYMBOL, "seller", "5", "59999.99")]);
    expect(await fillsOf(all, 1)).toEqual([]);
    all.time.advance(10);
    all.market.openBook(SYMBOL, { asks: "60000x1", bids: "59999.99x0.003" });
    await inTurn(all, [(market) => market.aggregate(SYMBOL, "seller", "0.0031", "59999.99")]);
    expect(await fillsOf(all, 1)).toEqual(["0.0001 @ 59999.99"]);
  });
});

describe("the history of a queue in a receipt", () => {
  /** In words: when it was, what was in front, and of it what was traded and canceled until then. */
  async function historiesOf(all: Pick<Fixture, "store">, since: number) {
    return (await receiptsOf(all, 1)).map(({ queue }) =>
      queue?.history?.map(({ time, ahead, tradedAtPrice, canceledAhead }) =>
        [time - since, ...[ahead ?? 0n, tradedAtPrice, canceledAhead].map(formatBriefly)].join(" "),
      ),
    );
  }

  test("is what trades and changes of the book did, in the exchange's time", async () => {
    const all = await strictFixture();
    await all.place("one", "BUY", "59999", { quantity: "0.001" });
    const since = all.time.now();
    all.time.advance(3_000);
    // Nobody in front is concerned by these.
    all.market.aggregate(SYMBOL, "buyer", "5", "59999", since + 10);
    all.market.diff(SYMBOL, { bids: "59999x0.009 59990x2" }, since + 20);
    all.market.aggregate(SYMBOL, "seller", "0.0005", "59999", since + 30);
    all.market.diff(SYMBOL, { bids: "59999x0.0008" }, since + 40);
    // It is later than the change, and received before it counts.
    all.market.aggregate(SYMBOL, "seller", "0.0001", "59999", since + 35);
    all.market.aggregate(SYMBOL, "seller", "0.0009", "59999", since + 1_200);
    await all.settled();
    const first = ["0 0.002 0 0", "30 0.0015 0.0005 0", "35 0.0014 0.0006 0", "40 0.0008 0.0006 0.0006"];
    const filled = [...first, "1200 0 0.0015 0.0006"];
    expect(await historiesOf(all, since)).toEqual([filled]);
    // A fill that finds nobody in front moves nothing.
    all.market.aggregate(SYMBOL, "seller", "0.0001", "59999", since + 1_300);
    await all.settled();
    expect(await historiesOf(all, since)).toEqual([filled, filled]);
  });

  test("ends with what was in front of an order that a trade beyond its limit fills", async () => {
    const all = await strictFixture();
    await all.place("one", "BUY", "59999", { quantity: "0.001" });
    const since = all.time.now();
    await inTurn(all, [
      (market) => market.aggregate(SYMBOL, "seller", "0.0005", "59999"),
      (market) => market.aggregate(SYMBOL, "seller", "5", "59998"),
    ]);
    expect(await historiesOf(all, since)).toEqual([
      ["0 0.002 0 0", "1 0.0015 0.0005 0", "2 0 0.0005 0.0015"],
    ]);
  });

  test("begins with what is unknown, if it was when the order joined the queue", async () => {
    const all = await strictFixture();
    all.market.loseBook(SYMBOL);
    await all.place("one", "BUY", "59999.99", { quantity: "0.001" });
    await all.settled();
    all.time.advance(10);
    all.market.openBook(SYMBOL, { asks: "60000x1", bids: "59999.99x0.003" });
    await all.settled();
    await inTurn(all, [(market) => market.aggregate(SYMBOL, "seller", "0.0031", "59999.99")]);
    const [{ queue } = { queue: null }] = await receiptsOf(all, 1);
    expect(queue?.history?.map(({ ahead }) => ahead)).toEqual([null, 300_000n, 0n]);
  });

  test("begins where the order was noted last, after a restart", async () => {
    const before = await strictFixture();
    await before.place("one", "BUY", "59999", { quantity: "0.001" });
    const since = before.time.now();
    await inTurn(before, [
      (market) => market.aggregate(SYMBOL, "seller", "0.0002", "59999"),
      (market) => market.aggregate(SYMBOL, "seller", "0.0003", "59999"),
    ]);
    before.time.advance(10_000);
    await before.settled();
    expect(await before.store.listQueueNotes(["one"])).toHaveLength(1);
    before.storage.failsToNote = true;
    await before.triggers.close();

    const after = startOn(before.store, before.time);
    after.market.history.push(...before.market.history);
    const downAt = after.time.now() - since;
    after.market.unheard(SYMBOL, "seller", "0.0004", "59999");
    after.time.advance(1_000);
    after.market.openBook(SYMBOL, BOOK_S);
    await after.triggers.open();
    await after.settled();
    after.time.advance(1);
    after.market.aggregate(SYMBOL, "seller", "0.0012", "59999");
    await after.settled();
    const filledAt = after.time.now() - since;
    expect(await historiesOf(before, since)).toEqual([
      ["2 0.0015 0.0005 0", `${downAt} 0.0011 0.0009 0`, `${filledAt} 0 0.0021 0`],
    ]);
  });
});

describe("beyond the price", () => {
  test("W7: as much as was traded there, at the order's limit", async () => {
    const all = await strictFixture();
    await all.place("one", "BUY", "59999", { quantity: "0.001" });
    await inTurn(all, [
      (market) => market.aggregate(SYMBOL, "seller", "0.0004", "59998"),
      (market) => market.aggregate(SYMBOL, "seller", "5", "59998.5"),
    ]);
    expect(await fillsOf(all, 1)).toEqual(["0.0004 @ 59999", "0.0006 @ 59999"]);
    expect((await receiptsOf(all, 1)).map(({ cause }) => cause)).toEqual(["TRADE_THROUGH", "TRADE_THROUGH"]);
  });

  test("W8: two orders share one trade, in the order of their arrival, in one commit", async () => {
    const all = await strictFixture();
    await all.place("one", "BUY", "59990", { quantity: "0.0003" });
    await all.place("one", "BUY", "59990", { quantity: "0.0003" });
    await inTurn(all, [(market) => market.aggregate(SYMBOL, "seller", "0.0004", "59989")]);
    expect([await fillsOf(all, 1), await fillsOf(all, 2)]).toEqual([["0.0003 @ 59990"], ["0.0001 @ 59990"]]);
    expect((await all.store.loadAccount("one"))?.version).toBe(4);
  });

  test("trades in quick succession fill as much together as one after another", async () => {
    const all = await strictFixture();
    await all.place("one", "BUY", "59999.99", { quantity: "0.001" });
    all.time.advance(1);
    for (const quantity of ["0.0009", "0.0003", "0.0003", "0.9"]) {
      all.market.aggregate(SYMBOL, "seller", quantity, "59999.99");
    }
    await all.settled();
    expect(await fillsOf(all, 1)).toEqual(["0.0002 @ 59999.99", "0.0003 @ 59999.99", "0.0005 @ 59999.99"]);
  });
});

describe("a book that comes to the limit", () => {
  test("W11: fills what is displayed and was not consumed, and a repeated quantity fills nothing", async () => {
    const all = await strictFixture();
    await all.place("one", "BUY", "59995", { quantity: "0.002" });
    await inTurn(all, [
      (market) =>
        market.diff(SYMBOL, {
          asks: "59994x0.0005 59998x1 60000x0 60001x0",
          bids: "59999.99x0 59999x0",
        }),
    ]);
    expect(await fillsOf(all, 1)).toEqual(["0.0005 @ 59995"]);
    await inTurn(all, [(market) => market.diff(SYMBOL, { asks: "59994x0.0005 59998x1" })]);
    expect(await fillsOf(all, 1)).toHaveLength(1);
    const [{ at } = { at: 0 }] = await all.store.listTrades("one", { symbol: SYMBOL, orderId: 1, limit: 1 });
    all.time.advance(at + 2_500 - all.time.now());
    all.market.diff(SYMBOL, { asks: "59994x0.0008" });
    await all.settled();
    expect(await fillsOf(all, 1)).toEqual(["0.0005 @ 59995", "0.00055 @ 59995"]);
    expect((await receiptsOf(all, 1))[1]).toMatchObject({
      cause: "BOOK_CROSSED",
      level: { displayed: 80_000n, ownConsumed: 25_000n, available: 55_000n, index: 0 },
    });
  });

  test("fills what a diff shows beyond a ticker with the same id", async () => {
    const all = await strictFixture();
    await all.place("one", "BUY", "59995", { quantity: "0.002" });
    await inTurn(all, [
      (market) => market.diff(SYMBOL, { bids: "59999.99x0 59999x0" }),
      (market) => market.ticker(SYMBOL, { bids: "59990x1", asks: "59994x0.0005" }, { ahead: 1 }),
      (market) => market.diff(SYMBOL, { asks: "59994x0.0005 59994.5x1" }),
    ]);
    expect(await fillsOf(all, 1)).toEqual(["0.0005 @ 59995", "0.0015 @ 59995"]);
  });

  test("fills each level that came while another fill was committed, with the book that showed it", async () => {
    const all = await strictFixture();
    await all.place("one", "BUY", "59995", { quantity: "0.002" });
    all.market.diff(SYMBOL, { bids: "59999.99x0 59999x0" });
    const lastUpdateId = all.market.book(SYMBOL)?.lastUpdateId ?? 0;
    const hold = all.storage.hold();
    all.time.advance(1);
    all.market.ticker(SYMBOL, { bids: "59990x1", asks: "59994x0.0005" }, { ahead: 3 });
    await hold.reached;
    all.market.diff(SYMBOL, { asks: "59994.5x0.0007" });
    all.market.diff(SYMBOL, { asks: "59994.5x0 59994.6x0.0001" });
    hold.release();
    await all.settled();
    expect(await fillsOf(all, 1)).toEqual(["0.0005 @ 59995", "0.0007 @ 59995", "0.0001 @ 59995"]);
    const books = (await receiptsOf(all, 1)).map(({ book }) => book?.lastUpdateId);
    expect(books).toEqual([lastUpdateId, lastUpdateId + 1, lastUpdateId + 2]);
  });

  test("of more than a thousand changes that come while a fill is committed the earliest fill nothing, and are counted", async () => {
    const all = await strictFixture();
    await all.place("one", "BUY", "59995", { quantity: "0.0007" });
    all.market.diff(SYMBOL, { bids: "59999.99x0 59999x0 59990x0" });
    const hold = all.storage.hold();
    all.time.advance(1);
    const ask = (index: number) => String(58_000 + index);
    all.market.diff(SYMBOL, { asks: `${ask(0)}x0.0005` });
    await hold.reached;
    // 999 wait behind the one that is committed.
    for (let index = 1; index <= 1_002; index += 1) {
      all.market.diff(SYMBOL, { asks: `${ask(index - 1)}x0 ${ask(index)}x0.0001` });
    }
    expect(all.triggers.droppedCrossings).toBe(3);
    hold.release();
    await all.settled();
    const levels = (await receiptsOf(all, 1)).map(({ level }) => formatBriefly(level?.price ?? 0n));
    expect(levels).toEqual([ask(0), ask(4), ask(5)]);
  });

  /** It shows the limit before the trade arrives that used up what others displayed there. */
  const crossing = (market: StubMarket) =>
    market.ticker(SYMBOL, { bids: "59999x0.002", asks: "59999.99x0.0005" }, { ahead: 1 });

  test("does not give the order a trade that was made before it with those in front", async () => {
    const all = await strictFixture();
    await all.place("one", "BUY", "59999.99", { quantity: "0.002" });
    await inTurn(all, [
      crossing,
      (market) => market.aggregate(SYMBOL, "seller", "0.001", "59999.99"),
      (market) => market.diff(SYMBOL, { bids: "59999.99x0", asks: "59999.99x0.0005" }),
    ]);
    expect(await fillsOf(all, 1)).toEqual(["0.0005 @ 59999.99"]);
    await inTurn(all, [(market) => market.aggregate(SYMBOL, "seller", "0.0003", "59999.99")]);
    expect(await fillsOf(all, 1)).toEqual(["0.0005 @ 59999.99", "0.0003 @ 59999.99"]);
  });

  test("does not give the order a trade before it that is looked up", async () => {
    const all = await strictFixture();
    await all.place("one", "BUY", "59999.99", { quantity: "0.002" });
    await inTurn(all, [(market) => market.aggregate(SYMBOL, "seller", "0.0001", "59999.99")]);
    all.time.advance(1);
    all.market.unheard(SYMBOL, "seller", "0.0008", "59999.99");
    all.market.aggregate(SYMBOL, "seller", "0.0001", "59999.99");
    crossing(all.market);
    await all.settled();
    expect(await fillsOf(all, 1)).toEqual(["0.0005 @ 59999.99"]);
  });

  test("does not give the order a trade before it that is looked up after a restart", async () => {
    const before = await strictFixture();
    await before.place("one", "BUY", "59999.99", { quantity: "0.002" });
    await inTurn(before, [(market) => market.aggregate(SYMBOL, "seller", "0.0001", "59999.99")]);
    before.time.advance(10_000);
    await before.settled();
    await before.triggers.close();

    const after = startOn(before.store, before.time);
    after.market.history.push(...before.market.history);
    after.market.unheard(SYMBOL, "seller", "0.0009", "59999.99");
    after.time.advance(1_000);
    after.market.openBook(SYMBOL, BOOK_S);
    after.market.failingAnswers = 1;
    await after.triggers.open();
    await after.settled();
    crossing(after.market);
    await after.settled();
    after.time.advance(5_000);
    await after.settled();
    expect(await fillsOf(before, 1)).toEqual(["0.0005 @ 59999.99"]);
  });

  test.each([
    ["fills an order", "0.0005", ["0.0003 @ 59999.99"], "0.0003"],
    ["fills a part of an order", "0.0001", ["0.0001 @ 59999.99", "0.0002 @ 59999.99"], "0.0001"],
  ])(
    "%s: the order behind it gets what it leaves of trades that come during that commit",
    async (_, displayed, first, second) => {
      const all = await strictFixture();
      await all.place("one", "BUY", "59999.99", { quantity: "0.0003" });
      await all.place("one", "BUY", "59999", { quantity: "0.001" });
      const hold = all.storage.hold();
      all.time.advance(1);
      all.market.ticker(SYMBOL, { bids: "59999x0.002", asks: `59999.99x${displayed}` }, { ahead: 1 });
      await hold.reached;
      all.market.aggregate(SYMBOL, "seller", "0.0009", "59999");
      all.time.advance(1);
      all.market.aggregate(SYMBOL, "seller", "0.0014", "59999");
      hold.release();
      await all.settled();
      expect([await fillsOf(all, 1), await fillsOf(all, 2)]).toEqual([first, [`${second} @ 59999`]]);
    },
  );

  test("fills an order: of a thousand trades that come during that commit the orders behind it wait for no more", async () => {
    const all = await strictFixture();
    await all.place("one", "BUY", "59999.99", { quantity: "0.0003" });
    await all.place("one", "BUY", "59999", { quantity: "0.001" });
    const hold = all.storage.hold();
    all.time.advance(1);
    all.market.ticker(SYMBOL, { bids: "59999x0.002", asks: "59999.99x0.0005" }, { ahead: 1 });
    await hold.reached;
    all.market.aggregate(SYMBOL, "seller", "0.0009", "59999");
    for (let count = 1; count < 1_000; count += 1) {
      all.market.aggregate(SYMBOL, "buyer", "1", "60000");
    }
    expect(aheadOf(all, 2)).toBe("0.002");
    all.market.aggregate(SYMBOL, "buyer", "1", "60000");
    expect(aheadOf(all, 2)).toBe("0.0014");
    hold.release();
    await all.settled();
    expect([await fillsOf(all, 1), await fillsOf(all, 2)]).toEqual([["0.0003 @ 59999.99"], []]);
  });

  test("is not taken for a change when it is known again and shows what it had shown", async () => {
    const all = await strictFixture();
    await all.place("one", "BUY", "59995", { quantity: "0.002" });
    const crossing = { asks: "59994x0.0005 59998x1", bids: "59980x1" };
    await inTurn(all, [(market) => market.openBook(SYMBOL, crossing)]);
    expect(await fillsOf(all, 1)).toEqual(["0.0005 @ 59995"]);
    all.time.advance(6_000);
    await inTurn(all, [(market) => market.loseBook(SYMBOL), (market) => market.openBook(SYMBOL, crossing)]);
    expect(await fillsOf(all, 1)).toHaveLength(1);
    await inTurn(all, [(market) => market.openBook(SYMBOL, { ...crossing, asks: "59994x0.0007 59998x1" })]);
    expect(await fillsOf(all, 1)).toEqual(["0.0005 @ 59995", "0.0007 @ 59995"]);
  });
});

describe("what comes while an order is committed", () => {
  test.each([
    ["a trade through", (market: StubMarket) => market.aggregate(SYMBOL, "seller", "1", "59998"), "0.001"],
    [
      "a trade at the price",
      (market: StubMarket) => market.aggregate(SYMBOL, "seller", "0.0025", "59999"),
      "0.0005",
    ],
    ["a level that comes and goes", comesAndGoes, "0.0007"],
  ])("%s is not lost", async (_, happens, filled) => {
    const all = await strictFixture();
    const hold = all.storage.hold();
    const placing = all.place("one", "BUY", "59999", { quantity: "0.001" });
    await hold.reached;
    all.time.advance(1);
    happens(all.market);
    hold.release();
    await placing;
    await all.settled();
    expect(await fillsOf(all, 1)).toEqual([`${filled} @ 59999`]);
  });

  test("is looked up if the commit takes longer than the market remembers", async () => {
    const all = await strictFixture();
    all.time.advance(5_000);
    const hold = all.storage.hold();
    const placing = all.place("one", "BUY", "59999", { quantity: "0.001" });
    await hold.reached;
    all.time.advance(1);
    all.market.aggregate(SYMBOL, "seller", "1", "59998");
    all.time.advance(20_000);
    all.market.forget();
    all.market.openBook(SYMBOL, BOOK_S);
    hold.release();
    await placing;
    await all.settled();
    expect(await fillsOf(all, 1)).toEqual(["0.001 @ 59999"]);
  });

  test("what it gives to an order in front is not taken from the queue of the new one", async () => {
    const all = await strictFixture();
    await all.place("one", "BUY", "59999.99", { quantity: "0.0003" });
    all.market.diff(SYMBOL, { bids: "59999.99x0" });
    const hold = all.storage.hold();
    const placing = all.place("one", "BUY", "59999", { quantity: "0.001" });
    await hold.reached;
    all.time.advance(1);
    all.market.diff(SYMBOL, { bids: "59999x1" });
    all.market.aggregate(SYMBOL, "seller", "0.0005", "59999");
    hold.release();
    await placing;
    await all.settled();
    expect(await fillsOf(all, 1)).toEqual(["0.0003 @ 59999.99"]);
    expect(aheadOf(all, 2)).toBe("0.0018");
  });
});

describe("a change of the book that contains a trade which arrives after it", () => {
  test("does not give that trade to an order which was being committed when both came", async () => {
    const all = await createFixture({ strict: {}, strategies: ["one", "two"] });
    all.market.openBook(SYMBOL, { asks: "60000x1", bids: "50000x1" });
    await all.triggers.open();
    await all.place("two", "BUY", "49000", { quantity: "0.001" });
    all.time.advance(10);
    const hold = all.storage.hold();
    const placing = all.place("one", "BUY", "50000", { quantity: "0.001" });
    await hold.reached;
    const since = all.time.now();
    all.time.advance(400);
    all.market.diff(SYMBOL, { bids: "50000x0.4" }, since + 100);
    all.market.aggregate(SYMBOL, "seller", "0.6", "50000", since + 97);
    all.market.aggregate(SYMBOL, "buyer", "0.1", "60000", since + 130);
    hold.release();
    await placing;
    await all.settled();
    expect([aheadOf(all, 1), await fillsOf(all, 1)]).toEqual(["0.4", []]);
  });

  test("moves the first order of a symbol that was being committed then, once a later trade comes", async () => {
    const all = await createFixture(STRICT);
    all.market.openBook(SYMBOL, { asks: "60000x1", bids: "50000x1" });
    await all.triggers.open();
    const hold = all.storage.hold();
    const placing = all.place("one", "BUY", "50000", { quantity: "0.001" });
    await hold.reached;
    all.time.advance(100);
    all.market.diff(SYMBOL, { bids: "50000x0.2" });
    hold.release();
    await placing;
    await all.settled();
    expect(aheadOf(all, 1)).toBe("1");
    await inTurn(all, [(market) => market.aggregate(SYMBOL, "buyer", "0.1", "60000")]);
    expect(aheadOf(all, 1)).toBe("0.2");
  });

  test("does not lower an order below what a ticker displayed at its placement", async () => {
    const all = await createFixture(STRICT);
    all.market.openBook(SYMBOL, { asks: "60001x1", bids: "60000x1" });
    await all.triggers.open();
    all.market.ticker(SYMBOL, { bids: "60000x5", asks: "60001x1" }, { ahead: 1 });
    const hold = all.storage.hold();
    const placing = all.place("one", "BUY", "60000", { quantity: "0.001" });
    await hold.reached;
    all.time.advance(1);
    all.market.ticker(SYMBOL, { bids: "60000.5x1", asks: "60001x1" }, { ahead: 2 });
    hold.release();
    await placing;
    await inTurn(all, [(market) => market.aggregate(SYMBOL, "seller", "2", "60000")]);
    expect([aheadOf(all, 1), await fillsOf(all, 1)]).toEqual(["3", []]);
  });

  /** A seller of 1 has emptied 60000: the ticker shows it, the trade is not here yet. */
  const emptied = (market: StubMarket) =>
    market.ticker(SYMBOL, { bids: "59999x1", asks: "60001x1" }, { ahead: 1 });

  test.each([
    [
      "a look-up ends",
      (all: Fixture, now: number) => {
        all.market.miss(SYMBOL, now - 500, now);
        emptied(all.market);
      },
    ],
    [
      "the book is known again",
      async (all: Fixture, now: number) => {
        all.market.silence(SYMBOL);
        all.market.diff(SYMBOL, { bids: "59980x1" }, now - 50);
        await all.settled();
        all.market.show(SYMBOL, "59999", "60001");
        emptied(all.market);
      },
    ],
  ])("as a ticker does: it fills nobody behind it when %s in between", async (_when, happens) => {
    const all = await createFixture(STRICT);
    all.market.openBook(SYMBOL, { asks: "60001x1", bids: "60000x1 59999x1" });
    await all.triggers.open();
    await all.place("one", "BUY", "60000", { quantity: "0.003" });
    all.time.advance(1_000);
    const now = all.time.now();
    all.market.diff(SYMBOL, { bids: "59990x1" }, now - 100);
    await happens(all, now);
    await all.settled();
    all.time.advance(30);
    all.market.aggregate(SYMBOL, "seller", "1", "60000", now - 20);
    await all.settled();
    expect([aheadOf(all, 1), await fillsOf(all, 1)]).toEqual(["0", []]);
  });
});

describe("a trade that was received before an order joined the queue, with a time after it", () => {
  /** The exchange's clock shows a later time than ours. */
  const AHEAD_MS = 500;

  test("fills other orders and not this one", async () => {
    const all = await createFixture(STRICT);
    all.market.openBook(SYMBOL, { asks: "60001x1", bids: "60000x1 59999x1" });
    await all.triggers.open();
    await all.place("one", "BUY", "60000", { quantity: "0.001" });
    all.time.advance(100);
    const hold = all.storage.hold();
    const first = all.place("one", "BUY", "40000", { quantity: "0.0001" });
    await hold.reached;
    // It waits for its turn.
    const second = all.place("one", "BUY", "60000", { quantity: "0.001" });
    all.time.advance(20);
    const time = all.time.now() + AHEAD_MS;
    all.market.aggregate(SYMBOL, "seller", "1", "60000", time - 10);
    all.market.aggregate(SYMBOL, "seller", "0.0015", "60000", time - 9);
    all.time.advance(20);
    hold.release();
    await Promise.all([first, second]);
    await all.settled();
    expect([await fillsOf(all, 1), await fillsOf(all, 3)]).toEqual([["0.001 @ 60000"], []]);
  });

  test("does not move its queue when it is looked up", async () => {
    const all = await createFixture(STRICT);
    all.market.openBook(SYMBOL, { asks: "60001x1", bids: "60000x1" });
    await all.triggers.open();
    await all.place("one", "BUY", "50000", { quantity: "0.001" });
    all.market.aggregate(SYMBOL, "seller", "0.6", "60000", all.time.now() + AHEAD_MS);
    await all.place("one", "BUY", "60000", { quantity: "0.001" });
    expect(aheadOf(all, 2)).toBe("0.4");
    all.time.advance(1_000);
    all.market.miss(SYMBOL, all.time.now() - 1_000, all.time.now());
    await all.settled();
    expect([aheadOf(all, 2), await fillsOf(all, 2)]).toEqual(["0.4", []]);
  });

  test("is not taken for one of another market, whose ids are lower", async () => {
    const all = await createFixture(STRICT);
    all.market.openBook(SYMBOL, { asks: "60001x1", bids: "60000x1" });
    await all.triggers.open();
    await all.place("one", "BUY", "50000", { quantity: "0.001" });
    all.market.aggregate(SYMBOL, "buyer", "1", "60001");
    await all.place("one", "BUY", "60000", { quantity: "0.001" });
    all.time.advance(11_000);
    const trade = all.market.unheard(SYMBOL, "seller", "2", "60000");
    all.market.retell(SYMBOL, { ...trade, aggregateId: 0 });
    await all.settled();
    expect(await fillsOf(all, 2)).toEqual(["0.001 @ 60000"]);
  });
});

function comesAndGoes(market: StubMarket): void {
  market.diff(SYMBOL, { asks: "59998.5x0.0007", bids: "59999.99x0 59999x0" });
  market.diff(SYMBOL, { asks: "59998.5x0" });
}

describe("after a time in which nobody listened", () => {
  test("W17: an order continues where it was noted, less what was traded since, behind no more than is displayed", async () => {
    const before = await createFixture(STRICT);
    before.market.openBook(SYMBOL, { asks: "60000x1", bids: "59000x1.2" });
    await before.triggers.open();
    await before.place("one", "BUY", "59000", { quantity: "0.001" });
    before.time.advance(1);
    before.market.aggregate(SYMBOL, "seller", "0.00001", "59000");
    before.time.advance(10_000);
    await before.settled();
    const [note] = await before.store.listQueueNotes(["one"]);
    expect(note).toMatchObject({ orderId: 1, ahead: 119_999_000n, tradedAtPrice: 1_000n, tradeId: 1 });
    before.storage.failsToNote = true;
    await before.triggers.close();

    const after = startOn(before.store, before.time);
    after.market.history.push(...before.market.history);
    after.time.advance(30_000);
    after.market.unheard(SYMBOL, "seller", "0.5", "59000");
    after.market.unheard(SYMBOL, "buyer", "5", "59000");
    after.time.advance(60_000);
    after.market.openBook(SYMBOL, { asks: "60000x1", bids: "59000x1" });
    after.market.diff(SYMBOL, { bids: "59000x0.4" });
    await after.triggers.open();
    await after.settled();
    // What is displayed counts once a later trade has come: one before it may still be on its way.
    expect(aheadOf(after, 1)).toBe("0.69999");
    after.time.advance(1);
    after.market.aggregate(SYMBOL, "buyer", "1", "60000");
    expect(aheadOf(after, 1)).toBe("0.4");
    expect(await fillsOf(before, 1)).toEqual([]);
  });

  test("trades of that time fill once, with the time that they were made at", async () => {
    const before = await strictFixture();
    await before.place("one", "BUY", "59999.99", { quantity: "0.003" });
    await inTurn(before, [(market) => market.aggregate(SYMBOL, "seller", "0.0015", "59999.99")]);
    expect(await fillsOf(before, 1)).toEqual(["0.0005 @ 59999.99"]);
    before.storage.failsToNote = true;
    await before.triggers.close();

    const after = startOn(before.store, before.time);
    after.market.history.push(...before.market.history);
    after.time.advance(2_000);
    after.market.unheard(SYMBOL, "seller", "0.0015", "59990");
    after.time.advance(2_000);
    after.market.openBook(SYMBOL, BOOK_S);
    after.market.failingAnswers = 1;
    await after.triggers.open();
    after.market.aggregate(SYMBOL, "seller", "0.0004", "59999.98");
    await after.settled();
    expect(await fillsOf(before, 1)).toEqual(["0.0005 @ 59999.99"]);
    after.time.advance(5_000);
    await after.settled();
    expect(await fillsOf(before, 1)).toEqual(["0.0005 @ 59999.99", "0.0015 @ 59999.99", "0.0004 @ 59999.99"]);
  });

  test("a trade that is missing in the stream is looked up before later ones count", async () => {
    const all = await strictFixture();
    await all.place("one", "BUY", "59999.99", { quantity: "0.003" });
    all.time.advance(1);
    all.market.aggregate(SYMBOL, "seller", "0.0002", "59999.99");
    all.time.advance(1);
    all.market.unheard(SYMBOL, "seller", "0.0008", "59999.99");
    all.time.advance(1);
    all.market.aggregate(SYMBOL, "seller", "0.0005", "59999.99");
    await all.settled();
    expect(await fillsOf(all, 1)).toEqual(["0.0005 @ 59999.99"]);
  });

  test.each([
    ["before the stream of trades began is looked up, if trades were made before", true],
    ["before the stream of trades began is looked up, if none was made before", false],
  ])("a trade after a look-up and %s", async (_, hasTraded) => {
    const before = await strictFixture();
    await before.place("one", "BUY", "59999.99", { quantity: "0.003" });
    if (hasTraded) await inTurn(before, [(market) => market.aggregate(SYMBOL, "buyer", "0.1", "60001")]);
    const after = await restartedWithMissed(before);
    if (hasTraded) after.market.openBook(SYMBOL, BOOK_S);
    after.market.aggregate(SYMBOL, "seller", "0.0003", "59999.99");
    if (!hasTraded) after.market.openBook(SYMBOL, BOOK_S);
    await after.settled();
    expect(await fillsOf(before, 1)).toEqual(["0.0002 @ 59999.99", "0.0003 @ 59999.99"]);
  });

  test("trades that are missed while the past is looked up are looked up next", async () => {
    const all = await strictFixture();
    await all.place("one", "BUY", "59999.99", { quantity: "0.003" });
    await inTurn(all, [(market) => market.aggregate(SYMBOL, "buyer", "0.1", "60001")]);
    const answers = heldAnswers(all.market);
    all.market.miss(SYMBOL, all.time.now(), all.time.now());
    await answers.asked;
    all.time.advance(1);
    all.market.unheard(SYMBOL, "seller", "0.0012", "59999.99");
    all.time.advance(1);
    all.market.aggregate(SYMBOL, "seller", "0.0003", "59999.99");
    answers.release();
    await all.settled();
    expect(await fillsOf(all, 1)).toEqual(["0.0002 @ 59999.99", "0.0003 @ 59999.99"]);
  });

  test("a trade is looked up that was made before the stream began, while a look-up found none", async () => {
    const before = await strictFixture();
    await before.place("one", "BUY", "59999.99", { quantity: "0.003" });
    await before.settled();
    await before.triggers.close();

    const after = startOn(before.store, before.time);
    const answers = heldAnswers(after.market);
    after.time.advance(1_000);
    await after.triggers.open();
    await answers.asked;
    after.time.advance(1);
    after.market.unheard(SYMBOL, "seller", "0.0012", "59999.99");
    after.time.advance(1);
    after.market.openBook(SYMBOL, BOOK_S);
    answers.release();
    await after.settled();
    expect(await fillsOf(before, 1)).toEqual(["0.0002 @ 59999.99"]);
  });

  test("a look-up for one strategy hides no trade from another, whose look-up was earlier", async () => {
    const before = await strictFixture({ ...STRICT, strategies: ["one", "two"] });
    await before.place("one", "BUY", "59999.99", { quantity: "0.003" });
    await inTurn(before, [(market) => market.aggregate(SYMBOL, "buyer", "0.1", "60001")]);
    const after = await restartedWithMissed(before);
    // Its book is not known yet, so its past is looked up, too.
    await after.place("two", "BUY", "59000", { quantity: "0.001" });
    await after.settled();
    after.time.advance(1);
    after.market.openBook(SYMBOL, BOOK_S);
    after.market.aggregate(SYMBOL, "seller", "0.0003", "59999.99");
    await after.settled();
    expect(await fillsOf(before, 1)).toEqual(["0.0002 @ 59999.99", "0.0003 @ 59999.99"]);
  });

  test("partial fills that leave nobody in front are noted, and hold up no watermark", async () => {
    const all = await strictFixture();
    await all.place("one", "BUY", "59999.99", { quantity: "0.003" });
    all.time.advance(1);
    for (let seconds = 0; seconds < 20; seconds += 5) {
      all.market.aggregate(SYMBOL, "seller", "0.0005", "59990");
      await all.settled();
      all.time.advance(5_000);
      await all.settled();
    }
    expect(await fillsOf(all, 1)).toHaveLength(4);
    all.market.show(SYMBOL, "59990", "60000");
    all.time.advance(5_000);
    await all.settled();
    expect(all.time.now() - (all.triggers.coveredUntil(SYMBOL) ?? 0)).toBeLessThan(6_000);
  });

  test("notes of orders that have ended are removed", async () => {
    const all = await strictFixture();
    await all.place("one", "BUY", "59999.99", { quantity: "0.001" });
    await inTurn(all, [(market) => market.aggregate(SYMBOL, "seller", "0.0002", "59999.99")]);
    all.time.advance(5_000);
    await all.settled();
    await all.store.forgetQueues([{ strategyId: "one", orderId: 1 }]);
    expect(await all.store.listQueueNotes(["one"])).toHaveLength(1);
    await all.desk.execute("one", { type: "CancelOrder", orderId: 1 });
    all.time.advance(5_000);
    await all.settled();
    expect(await all.store.listQueueNotes(["one"])).toEqual([]);
  });

  test("notes that a killed process has left of ended orders are removed with the next look-up", async () => {
    const all = await strictFixture();
    await all.place("one", "BUY", "59999.99", { quantity: "0.001" });
    await all.place("one", "BUY", "59990", { quantity: "0.001" });
    await inTurn(all, [(market) => market.aggregate(SYMBOL, "seller", "0.0002", "59999.99")]);
    all.time.advance(5_000);
    await all.settled();
    all.storage.failsToNote = true;
    await all.desk.execute("one", { type: "CancelOrder", orderId: 1 });
    await all.triggers.close();
    expect((await all.store.listQueueNotes(["one"])).map(({ orderId }) => orderId)).toEqual([1]);

    const after = startOn(all.store, all.time);
    after.market.openBook(SYMBOL, BOOK_S);
    await after.triggers.open();
    await after.settled();
    after.time.advance(5_000);
    await after.settled();
    expect(await all.store.listQueueNotes(["one"])).toEqual([]);
  });
});

describe("several servers", () => {
  test("that both keep an order fill it once by each trade of the market", async () => {
    const { here, there, time, notify } = await twoServers(["one"], "SPOT", {});
    for (const { market } of [here, there]) market.openBook(SYMBOL, BOOK_S);
    await here.place("one", "BUY", "59999.99", { quantity: "0.001" });
    await notify("one");
    expect([aheadOf(here, 1), aheadOf(there, 1)]).toEqual(["0.001", "0.001"]);
    for (const quantity of ["0.0006", "0.0006", "0.0001"]) {
      time.advance(1);
      const trade = here.market.unheard(SYMBOL, "seller", quantity, "59999.99");
      for (const { market } of [there, here]) market.retell(SYMBOL, trade);
      await notify("one");
    }
    expect(await fillsOf(here, 1)).toEqual(["0.0002 @ 59999.99", "0.0001 @ 59999.99"]);
    expect([aheadOf(here, 1), aheadOf(there, 1)]).toEqual(["0", "0"]);
  });

  test("an order of another server has a past, although a commit here shows it first", async () => {
    const { here, there, time } = await twoServers(["one"], "SPOT", {});
    for (const { market } of [here, there]) market.openBook(SYMBOL, BOOK_S);
    await there.place("one", "BUY", "59999", { quantity: "0.0003" });
    await here.place("one", "BUY", "59999.99", { quantity: "0.002" });
    time.advance(1);
    // The notification of the second order is still on its way.
    there.market.aggregate(SYMBOL, "seller", "0.0011", "59999.99");
    time.advance(1);
    there.market.aggregate(SYMBOL, "seller", "0.0005", "59998");
    await there.settled();
    expect(await fillsOf(here, 2)).toEqual(["0.0005 @ 59999.99", "0.0001 @ 59999.99"]);
  });

  test("what a command without an answer gives to an order does not move those behind it", async () => {
    const { here, there, time, notify } = await twoServers(["one"], "SPOT", {});
    for (const { market } of [here, there]) market.openBook(SYMBOL, BOOK_S);
    await here.place("one", "BUY", "59999.99", { quantity: "0.0003" });
    await notify("one");
    await here.place("one", "BUY", "59999", { quantity: "0.001" });
    time.advance(1);
    there.market.diff(SYMBOL, { bids: "59999x1" });
    const hold = there.storage.hold();
    const trade = here.market.unheard(SYMBOL, "seller", "0.0005", "59999");
    there.market.history.push({ symbol: SYMBOL, trade });
    there.market.retell(SYMBOL, trade);
    await hold.reached;
    there.storage.elsewhere.committed([{ strategyId: "one", type: "SPOT" }]);
    while (there.market.askedForTrades.length < 2) await here.settled();
    await here.settled();
    hold.release();
    await there.settled();
    expect(await fillsOf(here, 1)).toEqual(["0.0003 @ 59999.99"]);
    expect(aheadOf(there, 2)).toBe("0.0018");
  });
});

describe("an order of another server", () => {
  /** Two servers that have received the same book and the same first trade. */
  async function bothStarted(strict: Parameters<typeof twoServers>[2] = {}) {
    const servers = await twoServers(["one"], "SPOT", strict);
    const { here, there } = servers;
    for (const { market } of [here, there]) market.openBook(SYMBOL, BOOK_S);
    const first = here.market.unheard(SYMBOL, "buyer", "0.0001", "60100");
    there.market.history.push({ symbol: SYMBOL, trade: first });
    for (const { market } of [here, there]) market.retell(SYMBOL, first);
    return servers;
  }

  const notified = async ({ storage, settled }: Pick<Fixture, "storage" | "settled">) => {
    storage.elsewhere.committed([{ strategyId: "one", type: "SPOT" }]);
    await settled();
  };

  test.each([
    ["is registered by what the market remembers", true],
    ["whose past has to be requested holds up no other order", false],
  ])("%s", async (_, isRemembered) => {
    const { here, there, time } = await bothStarted();
    await here.place("one", "BUY", "59998", { quantity: "0.001" });
    await notified(there);
    if (!isRemembered) here.market.openBook(SYMBOL, BOOK_S);
    const asked = there.market.askedForTrades.length;
    const answers = heldAnswers(there.market);
    if (!isRemembered) here.market.loseBook(SYMBOL);
    await here.place("one", "BUY", "59997", { quantity: "0.001" });
    await notified(there);
    time.advance(100);
    there.market.aggregate(SYMBOL, "seller", "0.0018", "59996");
    await there.settled();
    // The client's cancel comes too late.
    const canceled = await here.desk.execute("one", { type: "CancelOrder", orderId: 1 });
    expect(canceled).toEqual({ refusal: "ORDER_NOT_OPEN" });
    expect(there.market.askedForTrades.length - asked).toBe(isRemembered ? 0 : 1);
    answers.release();
    await there.settled();
    expect([await fillsOf(here, 1), await fillsOf(here, 2)]).toEqual([["0.001 @ 59998"], ["0.0008 @ 59997"]]);
  });

  test("takes its part of a trade before another one, also while its past is requested", async () => {
    const { here, there, time } = await bothStarted();
    await here.place("one", "BUY", "59999", { quantity: "0.001" });
    await notified(there);
    const answers = heldAnswers(there.market);
    here.market.loseBook(SYMBOL);
    await here.place("one", "BUY", "59999.5", { quantity: "0.001" });
    await notified(there);
    time.advance(1);
    // 0.001 for the new order, which is in front, then 0.0005 of what others display in front of the first.
    there.market.aggregate(SYMBOL, "seller", "0.0015", "59999");
    await there.settled();
    expect([aheadOf(there, 1), await fillsOf(here, 2)]).toEqual(["0.0015", []]);
    answers.release();
    await there.settled();
    expect(await fillsOf(here, 2)).toEqual(["0.001 @ 59999.5"]);
    await inTurn(there, [(market) => market.aggregate(SYMBOL, "seller", "0.0016", "59999")]);
    expect(await fillsOf(here, 1)).toEqual(["0.0001 @ 59999"]);
  });

  test("is filled by levels that came to its limit before it became known, and by each of them once", async () => {
    const { here, there, time } = await bothStarted();
    await here.place("one", "BUY", "59998", { quantity: "0.002" });
    time.advance(1);
    there.market.diff(SYMBOL, { bids: "59999.99x0 59999x0", asks: "59997x0.0003 59997.5x0.0002" });
    there.market.diff(SYMBOL, { asks: "59997x0" });
    await notified(there);
    expect(await fillsOf(here, 1)).toEqual(["0.0003 @ 59998", "0.0002 @ 59998"]);
    await inTurn(there, [(market) => market.diff(SYMBOL, { asks: "59997.5x0.0002" })]);
    expect(await fillsOf(here, 1)).toHaveLength(2);
  });

  test("takes nothing again of a change that its placement had seen before this server", async () => {
    const { here, there } = await bothStarted({ refreshMs: 0 });
    const change = { asks: "60000x0.0007" };
    here.market.diff(SYMBOL, change);
    await here.place("one", "BUY", "60001", { quantity: "0.003" });
    await notified(there);
    const taken = ["0.0007 @ 60000", "0.0005 @ 60001"];
    expect(await fillsOf(here, 1)).toEqual(taken);
    await inTurn(there, [(market) => market.diff(SYMBOL, change)]);
    expect(await fillsOf(here, 1)).toEqual(taken);
    await inTurn(there, [(market) => market.diff(SYMBOL, { asks: "60001x0.0009" })]);
    expect(await fillsOf(here, 1)).toEqual([...taken, "0.0009 @ 60001"]);
  });
});

describe("an order that has missed changes of the book", () => {
  const CROSSING = { asks: "60000x0.0005 60200x1", bids: "59990x1" };

  test("is filled by what the book displays, if it was decided before the book was known", async () => {
    const all = await strictFixture();
    all.market.loseBook(SYMBOL);
    const hold = all.storage.hold();
    const placing = all.place("one", "BUY", "60100", { quantity: "0.002" });
    await hold.reached;
    all.time.advance(1);
    all.market.openBook(SYMBOL, CROSSING);
    all.market.diff(SYMBOL, { asks: "60000x0.0006 60050x0.0001" });
    hold.release();
    await placing;
    await all.settled();
    expect(await fillsOf(all, 1)).toEqual(["0.0006 @ 60100", "0.0001 @ 60100"]);
    await inTurn(all, [(market) => market.diff(SYMBOL, { asks: "60000x0" })]);
    expect(await fillsOf(all, 1)).toHaveLength(2);
  });

  test("is filled by what has come while the book was not known, and takes nothing of its placement again", async () => {
    const all = await strictFixture({ strict: { refreshMs: 0 } });
    const hold = all.storage.hold();
    const placing = all.place("one", "BUY", "60001", { quantity: "0.003" });
    await hold.reached;
    all.time.advance(1);
    all.market.loseBook(SYMBOL);
    all.market.openBook(SYMBOL, { ...BOOK_S, asks: "60000x0.0005 60000.5x0.0003 60001x0.0005" });
    hold.release();
    await placing;
    await all.settled();
    expect(await fillsOf(all, 1)).toEqual(["0.0005 @ 60000", "0.0005 @ 60001", "0.0003 @ 60001"]);
  });

  test("is filled by what the book displays when its slot is taken over", async () => {
    const before = await strictFixture({ ...STRICT, strategies: ["one", "two"] });
    await before.place("one", "BUY", "59995", { quantity: "0.002" });
    await before.place("two", "BUY", "50000", { quantity: "0.001" });
    await before.settled();
    await before.triggers.close();

    const after = startOn(before.store, before.time);
    const slots = (strategies: readonly string[]) => new Set(strategies.map(slotOf));
    after.triggers.keepOnly(slots(["two"]));
    await after.triggers.open();
    after.market.openBook(SYMBOL, BOOK_S);
    after.time.advance(20_000);
    after.market.diff(SYMBOL, { asks: "59994x0.0005", bids: "59999.99x0 59999x0" });
    await after.settled();
    after.triggers.keepOnly(slots(["one", "two"]));
    await after.triggers.load(slots(["one"]));
    await after.settled();
    expect(await fillsOf(before, 1)).toEqual(["0.0005 @ 59995"]);
    await inTurn(after, [(market) => market.diff(SYMBOL, { asks: "59994x0" })]);
    expect(await fillsOf(before, 1)).toHaveLength(1);
  });

  test("is filled by what a halted market displays once it trades", async () => {
    const before = await strictFixture();
    await before.place("one", "BUY", "59995", { quantity: "0.002" });
    await before.settled();
    await before.triggers.close();

    const after = startOn(before.store, before.time);
    after.time.advance(20_000);
    after.market.halted.add(SYMBOL);
    after.market.openBook(SYMBOL, { asks: "59994x0.0005", bids: "59990x1" });
    await after.triggers.open();
    await after.settled();
    expect(await fillsOf(before, 1)).toEqual([]);
    after.market.halted.delete(SYMBOL);
    after.time.advance(1);
    after.market.diff(SYMBOL, { bids: "59990x2" });
    await after.settled();
    expect(await fillsOf(before, 1)).toEqual(["0.0005 @ 59995"]);
  });
});

describe("a triggered stop", () => {
  test("waits for the book to have the trade that has hit it, and takes nothing that was traded", async () => {
    const all = await createFixture(STRICT);
    all.market.openBook(SYMBOL, { asks: "60000x0.001 60010x5", bids: "59980x5" });
    all.market.trade(SYMBOL, "59990");
    await all.triggers.open();
    await all.place("one", "BUY", null, { stop: "60000", quantity: "0.001" });
    const arrival = Promise.withResolvers<void>();
    all.market.tradesArrival = arrival.promise;
    all.time.advance(1);
    all.market.trade(SYMBOL, "60000");
    await all.settled();
    expect(await fillsOf(all, 1)).toEqual([]);
    all.market.aggregate(SYMBOL, "buyer", "0.0008", "60000");
    arrival.resolve();
    await all.settled();
    expect(await fillsOf(all, 1)).toEqual(["0.0002 @ 60000", "0.0008 @ 60010"]);
  });
});

describe("futures", () => {
  const BOOK_F = { asks: "60000.1x0.004 60001x0.004 60010x1", bids: "60000x1 59990x5" };

  const LAST_PRICE_STOP: PlaceLeg = {
    type: "PlaceLeg",
    symbol: SYMBOL,
    side: "SELL",
    legType: "STOP_MARKET",
    triggerPrice: decimal("59800"),
    workingType: "CONTRACT_PRICE",
    clientLegId: "leg",
  };

  async function futuresFixture() {
    const all = await createFixture({ type: "FUTURES", strict: {} });
    all.market.show(SYMBOL, "60000", "60000.1");
    all.market.showMark(SYMBOL, "60000");
    all.market.openBook(SYMBOL, BOOK_F);
    all.market.aggregate(SYMBOL, "buyer", "0.001", "60000.1");
    await all.triggers.open();
    return all;
  }

  test("an open order is filled by trades, in parts, as maker", async () => {
    const all = await futuresFixture();
    await all.place("one", "BUY", "59990", { quantity: "0.01" });
    await inTurn(all, [(market) => market.aggregate(SYMBOL, "seller", "0.004", "59980")]);
    expect(await fillsOf(all, 1)).toEqual(["0.004 @ 59990"]);
    await inTurn(all, [(market) => market.aggregate(SYMBOL, "seller", "5", "59989")]);
    expect(await fillsOf(all, 1)).toEqual(["0.004 @ 59990", "0.006 @ 59990"]);
    expect((await all.fillsOf("one", 1)).map(([, , isMaker]) => isMaker)).toEqual([true, true]);
  });

  test("an order whose mark price is missing is filled when there is one", async () => {
    const all = await futuresFixture();
    await all.place("one", "BUY", "59990", { quantity: "0.01" });
    all.market.forgetMark(SYMBOL);
    await inTurn(all, [(market) => market.aggregate(SYMBOL, "seller", "0.004", "59980")]);
    all.time.advance(10_000);
    await all.settled();
    expect(await fillsOf(all, 1)).toEqual([]);
    expect(all.triggers.coveredUntil(SYMBOL)).toBeLessThanOrEqual(1_000_001);
    all.market.showMark(SYMBOL, "60000");
    all.time.advance(1_000);
    await all.settled();
    expect(await fillsOf(all, 1)).toEqual(["0.004 @ 59990"]);
  });

  test("F6: a leg by the last price waits for a trade, whatever the mark price is", async () => {
    const all = await futuresFixture();
    await all.place("one", "BUY", null, { quantity: "0.01" });
    const placed = await all.desk.execute("one", LAST_PRICE_STOP);
    expect(placed).toMatchObject({ legs: [{ status: "NEW" }] });
    await inTurn(all, [
      (market) =>
        market.diff(SYMBOL, { bids: "60000x0 59990x0 59799x0.004 59790x5", asks: "60000.1x0 60001x0" }),
      (market) => market.showMark(SYMBOL, "59700"),
    ]);
    expect((await standingOf(all.store, "one")).stop).toBe("NEW");
    await inTurn(all, [(market) => market.aggregate(SYMBOL, "buyer", "0.001", "59800")]);
    expect(await standingOf(all.store, "one")).toMatchObject({ stop: "FINISHED", holds: "0" });
    expect(await fillsOf(all, 3)).toEqual(["0.004 @ 59799", "0.006 @ 59790"]);
  });

  test("a leg by the last price is triggered by a trade during its own commit", async () => {
    const all = await futuresFixture();
    await all.place("one", "BUY", null, { quantity: "0.01" });
    const hold = all.storage.hold();
    const placing = all.desk.execute("one", LAST_PRICE_STOP);
    await hold.reached;
    all.market.aggregate(SYMBOL, "buyer", "0.001", "59700");
    all.market.aggregate(SYMBOL, "buyer", "0.001", "60000.1");
    hold.release();
    await placing;
    await all.settled();
    expect(await standingOf(all.store, "one")).toMatchObject({ stop: "FINISHED", holds: "0" });
  });
});

describe("a symbol's book", () => {
  test("is followed as long as a strategy under strict uses the symbol, and by nobody else", async () => {
    const all = await strictFixture();
    expect(all.market.followedBooks()).toEqual([]);
    await all.place("one", "BUY", "59990", { quantity: "0.001" });
    expect(all.market.followedBooks()).toEqual([SYMBOL]);
    await all.desk.execute("one", { type: "CancelOrder", orderId: 1 });
    expect(all.market.followedBooks()).toEqual([]);
    expect(all.market.subscribed()).toEqual([]);
  });

  test("is not followed for orders under standard, which trades at their limit do not fill", async () => {
    const { market, place, settled, statusOf, triggers } = await createFixture();
    await triggers.open();
    await place("one", "BUY", "90");
    expect(market.followedBooks()).toEqual([]);
    market.show(SYMBOL, "89", "90");
    await settled();
    expect(await statusOf("one", 2)).toBe("FILLED");
  });
});
