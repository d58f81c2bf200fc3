// Effective books against the simulated exchange, both as they run: real sockets, the time moved by hand.
import { expect, test } from "vitest";
import type { BookView } from "../../domain/market.ts";
import type { BookSide } from "../../domain/receipt.ts";
import { decimal, formatDecimal } from "../../money/decimal.ts";
import type { Book } from "../exchange/source.ts";
import type { BookEvent } from "../feed.ts";
import { createSimulatedSources } from "../simulated/source.ts";
import { openSimulatedFixture, SEED } from "./testing/simulated-fixture.ts";
import { until } from "./testing/upstream.ts";

const sources = createSimulatedSources(String(SEED));
const symbol = "BTCUSDT";

function displayed(book: BookView, side: BookSide): string[] {
  return [...book.displayed(side)].map(
    (level) => `${formatDecimal(level.price)} ${formatDecimal(level.displayed)}`,
  );
}

const published = (levels: Book["bids"] = []) =>
  levels.map(([price, quantity]) => `${formatDecimal(decimal(price))} ${formatDecimal(decimal(quantity))}`);

test.each(["SPOT", "FUTURES"] as const)(
  "%s: the book is the exchange's own, also after the connection was lost",
  async (strategyType) => {
    const { feed, pass, answerOf, interrupt, time, exchange } = await openSimulatedFixture(strategyType);
    const source = sources[strategyType];
    const events: BookEvent[] = [];
    feed.followBook(symbol, (event) => events.push(event));
    await answerOf(Promise.resolve(feed.prepare(symbol)));
    await answerOf(Promise.resolve(feed.prepareBook(symbol)));
    const isOwn = () => {
      const book = feed.book(symbol);
      const truth = source.book(symbol, feed.now(), 1_000);
      expect(book?.lastUpdateId).toBe(truth?.updateId);
      if (book === null) throw new Error("the book is known");
      expect(displayed(book, "BID")).toEqual(published(truth?.bids));
      expect(displayed(book, "ASK")).toEqual(published(truth?.asks));
    };
    for (let second = 0; second < 5; second += 1) {
      await pass(1_000 - (feed.now() % 1_000));
      await until(() => feed.book(symbol)?.lastUpdateId === source.book(symbol, feed.now(), 1)?.updateId);
      isOwn();
    }
    const trades = events.flatMap((event) => (event.type === "TRADE" ? [event.trade] : []));
    expect(trades.length).toBeGreaterThan(0);
    expect(feed.lastPrice(symbol)).toBe(decimal(source.lastTrade(symbol, feed.now())?.price ?? ""));
    const aggregates = source.aggregateTrades(symbol, feed.now(), {
      fromId: trades[0]?.aggregateId,
      limit: trades.length,
    });
    expect(trades).toEqual(
      aggregates.map(({ id, at, price, quantity, isBuyerMaker }) => ({
        aggregateId: id,
        price: decimal(price),
        quantity: decimal(quantity),
        side: isBuyerMaker ? "BID" : "ASK",
        time: at,
      })),
    );

    await interrupt(3_000);
    expect(feed.book(symbol)).toBe(null);
    events.length = 0;
    await until(() => {
      time.advance(100);
      exchange.pump();
      return feed.book(symbol) !== null;
    });
    expect(events.map(({ type }) => type)).toContain("KNOWN");
    await pass(1_000 - (feed.now() % 1_000));
    await until(() => feed.book(symbol)?.lastUpdateId === source.book(symbol, feed.now(), 1)?.updateId);
    isOwn();
  },
);

test("a symbol that no strategy under strict uses has no stream of its book", async () => {
  const { feed, pass } = await openSimulatedFixture("SPOT");
  await feed.prepare(symbol);
  await pass(1_000);
  expect(feed.book(symbol)).toBe(null);
  const before = feed.status().streams;
  void feed.prepareBook(symbol);
  // Diffs and aggregate trades; the ticker is streamed already.
  expect(feed.status().streams).toBe(before + 2);
});
