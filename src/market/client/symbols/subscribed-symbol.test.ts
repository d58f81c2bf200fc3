import { expect, test } from "vitest";
import { createManualTime } from "../../../concurrency/testing/manual-time.ts";
import { decimal, formatDecimal, type Price } from "../../../money/decimal.ts";
import type { MarketListener } from "../../feed.ts";
import { createFixture, type Fixture, settle } from "../testing/feed.ts";
import { sendAverage, sendDepth, sendTicker, sendTrade, subscribedFixture } from "../testing/messages.ts";
import { until } from "../testing/upstream.ts";
import { silentAfterMs } from "./book.ts";
import { firstPricesWaitMsMax } from "./subscribed-symbol.ts";

/** REST has the last and the average price of BTCUSDT as well; the test can delay its answer. */
async function pricedFixture(answered: Promise<void> = Promise.resolve()): Promise<Fixture> {
  const fixture = await createFixture(["BTCUSDT"], { asksAboutQuietSymbols: false });
  fixture.tickers.set("BTCUSDT", ["99", "101"]);
  fixture.upstream.reply("/api/v3/ticker/price", async () => {
    await answered;
    return { body: { symbol: "BTCUSDT", price: "100" } };
  });
  fixture.upstream.reply("/api/v3/avgPrice", async () => {
    await answered;
    return { body: { mins: 5, price: "98", closeTime: 1 } };
  });
  await fixture.feed.start();
  return fixture;
}

const pricesOf = ({ feed }: Fixture) => [feed.lastPrice("BTCUSDT"), feed.averagePrice("BTCUSDT")];
const price = (text: string) => decimal<Price>(text);

test("the last and the average price are there once a symbol was prepared, and none before", async () => {
  const fixture = await pricedFixture();
  expect(pricesOf(fixture)).toEqual([null, null]);
  await fixture.feed.prepare("BTCUSDT");
  expect(pricesOf(fixture)).toEqual([price("100"), price("98")]);
});

test("streamed prices are not awaited by REST, nor replaced by its answer", async () => {
  const answer = Promise.withResolvers<void>();
  const fixture = await pricedFixture(answer.promise);
  const { feed, upstream } = fixture;
  const prepared = feed.prepare("BTCUSDT");
  await until(() => upstream.subscribed().length === 4);
  sendTrade(fixture, 7, "102");
  sendAverage(fixture, "97");
  await prepared;
  expect(pricesOf(fixture)).toEqual([price("102"), price("97")]);
  answer.resolve();
  await settle(fixture);
  expect(pricesOf(fixture)).toEqual([price("102"), price("97")]);
});

test("prices that do not come are waited for within the same bound as the quote", async () => {
  const fixture = await pricedFixture(new Promise(() => {}));
  const { feed, time } = fixture;
  const prepared = feed.prepare("BTCUSDT");
  await until(() => feed.status().quotes.accepted === 1);
  // Whether the quote is near what is traded is not known yet.
  expect(feed.quote("BTCUSDT")).toBeNull();
  expect(feed.prepare("BTCUSDT")).toBeInstanceOf(Promise);
  time.advance(firstPricesWaitMsMax);
  await prepared;
  expect(feed.quote("BTCUSDT")).toEqual({ bid: price("99"), ask: price("101") });
  expect(pricesOf(fixture)).toEqual([null, null]);
  expect(feed.prepare("BTCUSDT")).toBeUndefined();
});

test("the last and the average price stay while a symbol is silent", async () => {
  const fixture = await pricedFixture();
  const { feed, time } = fixture;
  await feed.prepare("BTCUSDT");
  await until(() => fixture.upstream.subscribed().length === 4);
  sendTrade(fixture, 7, "102");
  sendTrade(fixture, 6, "50");
  sendAverage(fixture, "97");
  await until(() => feed.averagePrice("BTCUSDT") === price("97"));
  time.advance(silentAfterMs);
  expect(feed.quote("BTCUSDT")).toBeNull();
  expect(pricesOf(fixture)).toEqual([price("102"), price("97")]);
  expect(feed.status().trades).toMatchObject({ accepted: 1, stale: 1, malformed: 0 });
  // After a silence ids may start over.
  sendTrade(fixture, 1, "103");
  await until(() => feed.lastPrice("BTCUSDT") === price("103"));
});

test("after a reconnect the last price is requested, and trades are accepted whatever their ids", async () => {
  const fixture = await pricedFixture();
  const { feed, upstream, time } = fixture;
  await feed.prepare("BTCUSDT");
  await until(() => upstream.subscribed().length === 4);
  sendTrade(fixture, 1_000, "102");
  await until(() => feed.lastPrice("BTCUSDT") === price("102"));
  upstream.dropConnections();
  await until(() => !feed.status().connected);
  time.advance(100);
  await until(() => feed.lastPrice("BTCUSDT") === price("100"));
  await until(() => upstream.subscribed().length === 4);
  sendTrade(fixture, 1, "96");
  await until(() => feed.lastPrice("BTCUSDT") === price("96"));
});

/** The events of a listener, one word each. */
function notes(): { readonly heard: string[]; readonly listener: MarketListener } {
  const heard: string[] = [];
  return {
    heard,
    listener: {
      quote: ({ bid, ask }) => heard.push(`quote ${textOf(bid)} ${textOf(ask)}`),
      trade: (traded) => heard.push(`trade ${textOf(traded)}`),
      markPrice: (marked) => heard.push(`mark ${textOf(marked)}`),
      gap: (from, to) => heard.push(`gap ${from - startsAt} ${to - startsAt}`),
    },
  };
}

const startsAt = createManualTime().now();
const textOf = (traded: Price | null) =>
  traded === null ? "-" : formatDecimal(traded).replace(/\.?0+$/, "");

test("a listener receives quotes and trades in order, until it is released", async () => {
  const fixture = await subscribedFixture({ asksAboutQuietSymbols: false });
  const { heard, listener } = notes();
  await until(() => fixture.upstream.subscribed().length === 4);
  sendTicker(fixture, 1, "99", "101");
  await until(() => fixture.feed.status().quotes.accepted === 2);
  const release = fixture.feed.watch("BTCUSDT", listener);
  sendTicker(fixture, 2, "99", "100");
  sendTrade(fixture, 5, "100");
  sendTrade(fixture, 5, "77");
  sendTicker(fixture, 3, "98", "100");
  sendTrade(fixture, 6, "98");
  await until(() => heard.length === 4);
  expect(heard).toEqual(["quote 99 100", "trade 100", "quote 98 100", "trade 98"]);
  release();
  sendTrade(fixture, 7, "97");
  await until(() => fixture.feed.lastPrice("BTCUSDT") === price("97"));
  expect(heard).toHaveLength(4);
});

test("a gap of a lost connection is reported before the message that ended it, in market time", async () => {
  const clock = createManualTime(startsAt);
  const fixture = await subscribedFixture({ asksAboutQuietSymbols: false, clock });
  const { feed, upstream, time, tickers } = fixture;
  sendTicker(fixture, 1_000, "99", "101");
  await until(() => feed.status().quotes.accepted === 2);
  const { heard, listener } = notes();
  feed.watch("BTCUSDT", listener);
  clock.advance(7_000);
  sendTicker(fixture, 1_001, "98", "101");
  await until(() => heard.length === 1);
  clock.advance(20_000);
  tickers.clear();
  upstream.dropConnections();
  await until(() => !feed.status().connected);
  time.advance(100);
  await until(() => upstream.subscribed().length === 4);
  await settle(fixture);
  sendTrade(fixture, 1, "90");
  sendTicker(fixture, 1, "89", "90");
  await until(() => heard.length === 4);
  expect(heard).toEqual(["quote 98 101", "gap 7000 27000", "trade 90", "quote 89 90"]);
});

test("a quote by REST ends a gap, and another one lasts until all streams are back", async () => {
  const fixture = await subscribedFixture({ asksAboutQuietSymbols: false });
  const { feed, upstream, time } = fixture;
  sendTicker(fixture, 1_000, "99", "101");
  await until(() => feed.status().quotes.accepted === 2);
  const { heard, listener } = notes();
  feed.watch("BTCUSDT", listener);
  upstream.setConfirming(false);
  upstream.dropConnections();
  await until(() => !feed.status().connected);
  time.advance(100);
  await until(() => heard.length === 1);
  expect(heard).toEqual(["gap 0 100"]);
  time.advance(50);
  sendTicker(fixture, 1, "98", "101");
  await until(() => heard.length === 2);
  upstream.setConfirming(true);
  time.advance(50);
  sendTicker(fixture, 2, "97", "101");
  await until(() => heard.length === 4);
  expect(heard).toEqual(["gap 0 100", "quote 98 101", "gap 100 200", "quote 97 101"]);
});

test("a gap of a silence is reported before the message that ended it", async () => {
  const fixture = await subscribedFixture({ asksAboutQuietSymbols: false });
  const { feed, time } = fixture;
  sendTicker(fixture, 1_000, "99", "101");
  await until(() => feed.status().quotes.accepted === 2);
  const { heard, listener } = notes();
  feed.watch("BTCUSDT", listener);
  time.advance(silentAfterMs - 1);
  sendDepth(fixture, 1_000, "99", "101");
  await until(() => feed.status().quotes.alive === 1);
  time.advance(silentAfterMs);
  sendTicker(fixture, 1, "98", "101");
  await until(() => heard.length === 2);
  expect(heard).toEqual([`gap ${silentAfterMs - 1} ${2 * silentAfterMs - 1}`, "quote 98 101"]);
});

test("an order placed before the streams of a new symbol are confirmed gets the gap that it may have missed", async () => {
  const fixture = await createFixture(["BTCUSDT"], { asksAboutQuietSymbols: false });
  const { feed, upstream, time, tickers } = fixture;
  tickers.set("BTCUSDT", ["99", "101"]);
  upstream.setConfirming(false);
  await feed.start();
  await feed.prepare("BTCUSDT");
  const { heard, listener } = notes();
  feed.watch("BTCUSDT", listener);
  await until(() => upstream.subscribed().length === 4);
  time.advance(300);
  upstream.setConfirming(true);
  sendTicker(fixture, 1, "98", "101");
  await until(() => heard.length === 2);
  expect(heard).toEqual(["gap 0 300", "quote 98 101"]);
});
