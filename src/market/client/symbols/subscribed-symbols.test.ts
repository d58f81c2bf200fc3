import { expect, test } from "vitest";
import type { Quote } from "../../../domain/market.ts";
import { decimal, type Price } from "../../../money/decimal.ts";
import type { MarketListener, PriceExtremes } from "../../feed.ts";
import { streamsPerConnectionMax } from "../streams/socket.ts";
import { graceMs } from "../streams/subscriptions.ts";
import { createFixture, pass, settle } from "../testing/feed.ts";
import { sendDepth, sendTicker, sendTrade, subscribedFixture } from "../testing/messages.ts";
import { until } from "../testing/upstream.ts";
import { silentAfterMs } from "./book.ts";
import { keptMs } from "./extremes.ts";
import { firstPricesWaitMsMax } from "./subscribed-symbol.ts";
import { awaitedMs, quietAfterMs, subscribedSymbolsMax, warmMs } from "./subscribed-symbols.ts";

const quote = (bid: string, ask: string): Quote => ({ bid: decimal<Price>(bid), ask: decimal<Price>(ask) });

const none: PriceExtremes = {
  highestBid: null,
  lowestAsk: null,
  highestTrade: null,
  lowestTrade: null,
  highestMark: null,
  lowestMark: null,
};

const deaf: MarketListener = { quote() {}, trade() {}, markPrice() {}, gap() {} };

test("the first quote comes by REST when the stream is slower, and then nothing waits", async () => {
  const { feed, upstream } = await subscribedFixture();
  expect(upstream.subscribed().sort()).toEqual([
    "btcusdt@avgPrice",
    "btcusdt@bookTicker",
    "btcusdt@depth20",
    "btcusdt@trade",
  ]);
  expect(feed.quote("BTCUSDT")).toEqual(quote("99", "101"));
  expect(feed.prepare("BTCUSDT")).toBeUndefined();
});

test("a REST answer is ignored after a newer streamed quote", async () => {
  const fixture = await createFixture(["BTCUSDT"]);
  const { feed, upstream } = fixture;
  const answer = Promise.withResolvers<void>();
  upstream.reply("/api/v3/ticker/bookTicker", async () => {
    await answer.promise;
    return { body: { symbol: "BTCUSDT", bidPrice: "1", askPrice: "2" } };
  });
  await feed.start();
  const prepared = feed.prepare("BTCUSDT");
  await until(() => upstream.subscribed().length === 4);
  sendTicker(fixture, 5, "99", "101");
  await prepared;
  expect(feed.quote("BTCUSDT")).toEqual(quote("99", "101"));
  const first = feed.status().quotes;
  answer.resolve();
  await settle(fixture);
  expect(feed.status().quotes).toEqual(first);
  expect(feed.quote("BTCUSDT")).toEqual(quote("99", "101"));
});

test("a symbol without any quote is waited for once, and not for long", async () => {
  const { feed, time } = await createFixture(["BTCUSDT"]);
  await feed.start();
  const prepared = feed.prepare("BTCUSDT");
  expect(prepared).toBeInstanceOf(Promise);
  time.advance(firstPricesWaitMsMax);
  await prepared;
  expect(feed.quote("BTCUSDT")).toBeNull();
  expect(feed.prepare("BTCUSDT")).toBeUndefined();
});

test("a symbol that is not listed, or not trading, is not subscribed", async () => {
  const { feed, rows } = await createFixture(["BTCUSDT", "ETHUSDT"]);
  rows.set("ETHUSDT", { ...rows.get("ETHUSDT"), status: "BREAK" });
  await feed.start();
  expect(feed.prepare("XYZUSDT")).toBeUndefined();
  expect(feed.prepare("ETHUSDT")).toBeUndefined();
  expect(feed.status()).toMatchObject({ streams: 0, symbols: 0 });
});

test("watchers receive every accepted quote in order; stale and crossed ones are counted and dropped", async () => {
  const fixture = await subscribedFixture();
  const { feed } = fixture;
  const heard: Quote[] = [];
  const release = feed.watch("BTCUSDT", { ...deaf, quote: (seen) => heard.push(seen) });
  sendTicker(fixture, 10, "100", "102");
  sendTicker(fixture, 9, "50", "51");
  sendTicker(fixture, 11, "103", "102");
  sendTicker(fixture, 12, "101", "102");
  await until(() => heard.length === 2);
  expect(heard).toEqual([quote("100", "102"), quote("101", "102")]);
  expect(feed.status().quotes).toMatchObject({ stale: 1, crossed: 1 });
  release();
  sendTicker(fixture, 13, "100", "102");
  await until(() => feed.quote("BTCUSDT")?.bid === decimal<Price>("100"));
  expect(heard).toHaveLength(2);
});

test("a symbol that becomes silent has no quote until its next message, whatever its ids are then", async () => {
  const fixture = await subscribedFixture({ asksAboutQuietSymbols: false });
  const { feed, time } = fixture;
  sendTicker(fixture, 10, "100", "102");
  await until(() => feed.quote("BTCUSDT")?.bid === decimal<Price>("100"));
  time.advance(silentAfterMs - 1);
  expect(feed.quote("BTCUSDT")).not.toBeNull();
  time.advance(1);
  expect(feed.quote("BTCUSDT")).toBeNull();
  expect(feed.prepare("BTCUSDT")).toBeUndefined();
  sendTicker(fixture, 1, "98", "99");
  await until(() => feed.quote("BTCUSDT") !== null);
  expect(feed.quote("BTCUSDT")).toEqual(quote("98", "99"));
});

test("a scheduled depth message without a change keeps a quiet symbol alive", async () => {
  const fixture = await subscribedFixture({ asksAboutQuietSymbols: false });
  const { feed, time } = fixture;
  sendDepth(fixture, 10, "100", "102");
  await until(() => feed.quote("BTCUSDT")?.bid === decimal<Price>("100"));
  for (let round = 1; round <= 3; round += 1) {
    time.advance(silentAfterMs - 1);
    sendDepth(fixture, 10, "100", "102");
    await until(() => feed.status().quotes.alive === round);
  }
  expect(feed.quote("BTCUSDT")).toEqual(quote("100", "102"));
});

test("a new connection is believed from its first message on", async () => {
  const fixture = await subscribedFixture();
  const { feed, upstream, time } = fixture;
  sendTicker(fixture, 1_000, "100", "102");
  await until(() => feed.quote("BTCUSDT")?.bid === decimal<Price>("100"));
  upstream.dropConnections();
  await until(() => !feed.status().connected);
  time.advance(100);
  await until(() => upstream.subscribed().length === 4);
  sendTicker(fixture, 1, "90", "91");
  await until(() => feed.quote("BTCUSDT")?.bid === decimal<Price>("90"));
});

test("after a reconnect one question brings the quotes of all symbols before their streams do", async () => {
  const fixture = await subscribedFixture({ asksAboutQuietSymbols: false });
  const { feed, upstream, time, tickers } = fixture;
  tickers.set("ETHUSDT", ["9", "10"]);
  feed.watch("ETHUSDT", deaf);
  await feed.prepare("ETHUSDT");
  const asked = () => upstream.requests.filter((line) => line.includes("bookTicker"));
  const before = asked().length;
  tickers.set("BTCUSDT", ["89", "90"]);
  upstream.dropConnections();
  await until(() => !feed.status().connected);
  time.advance(100);
  await until(() => feed.quote("BTCUSDT")?.bid === decimal<Price>("89"));
  expect(asked().slice(before)).toEqual([
    `/api/v3/ticker/bookTicker?symbols=${encodeURIComponent('["BTCUSDT","ETHUSDT"]')}`,
  ]);
});

test("quiet symbols are requested in one request, and an answer counts as a message", async () => {
  const { feed, upstream, time, tickers } = await subscribedFixture();
  tickers.set("ETHUSDT", ["9", "10"]);
  await feed.prepare("ETHUSDT");
  const asked = () => upstream.requests.filter((line) => line.includes("symbols=")).length;
  for (let round = 1; round <= 3; round += 1) {
    const { alive } = feed.status().quotes;
    time.advance(quietAfterMs);
    await until(() => feed.status().quotes.alive === alive + 2);
    expect(asked()).toBe(round);
  }
  expect(feed.quote("BTCUSDT")).toEqual(quote("99", "101"));

  tickers.set("BTCUSDT", ["97", "98"]);
  time.advance(quietAfterMs);
  await until(() => feed.quote("BTCUSDT")?.bid === decimal<Price>("97"));
});

test("one symbol that is no longer listed does not silence the others", async () => {
  const { feed, upstream, time, tickers } = await subscribedFixture();
  tickers.set("ETHUSDT", ["9", "10"]);
  await feed.prepare("ETHUSDT");
  tickers.delete("ETHUSDT");
  time.advance(quietAfterMs);
  await until(() => feed.status().quotes.alive === 1);
  expect(upstream.requests.at(-1)).toBe("/api/v3/ticker/bookTicker");
});

test("without a stream connection a REST answer is no sign of life", async () => {
  const fixture = await subscribedFixture();
  const { feed, upstream, time } = fixture;
  upstream.setAccepting(false);
  upstream.dropConnections();
  await until(() => !feed.status().connected);
  for (let second = 0; second < 5; second += 1) {
    time.advance(1_000);
    await settle(fixture);
  }
  expect(feed.quote("BTCUSDT")).toBeNull();
  expect(upstream.requests.filter((line) => line.includes("bookTicker"))).toHaveLength(1);
});

test("a symbol stays warm for a while after its last use, and as long as it is watched", async () => {
  const fixture = await subscribedFixture({ asksAboutQuietSymbols: false });
  const { feed, upstream } = fixture;
  const release = feed.watch("BTCUSDT", deaf);
  await pass(fixture, 2 * warmMs);
  expect(feed.status().symbols).toBe(1);
  release();
  await pass(fixture, warmMs - 1_000);
  expect(feed.status().symbols).toBe(1);
  await pass(fixture, 2_000);
  expect(feed.status().symbols).toBe(0);
  await pass(fixture, graceMs + 1_000);
  await until(() => upstream.subscribed().length === 0);
});

test("extremes since a checkpoint are known for a while", async () => {
  const fixture = await subscribedFixture({ asksAboutQuietSymbols: false });
  const { feed } = fixture;
  expect(feed.extremesSince("BTCUSDT", feed.sequence())).toBeNull();
  sendTicker(fixture, 10, "90", "91");
  await until(() => feed.quote("BTCUSDT")?.bid === decimal<Price>("90"));
  const mark = feed.sequence();
  sendTicker(fixture, 11, "100", "102");
  sendTicker(fixture, 12, "97", "103");
  await until(() => feed.quote("BTCUSDT")?.bid === decimal<Price>("97"));
  const extremes = { highestBid: decimal<Price>("100"), lowestAsk: decimal<Price>("102") };
  expect(feed.extremesSince("BTCUSDT", mark)).toEqual({ ...none, ...extremes });
  const later = feed.sequence();
  sendTrade(fixture, 1, "99");
  sendTrade(fixture, 2, "98");
  await until(() => feed.lastPrice("BTCUSDT") === decimal<Price>("98"));
  const trades = { highestTrade: decimal<Price>("99"), lowestTrade: decimal<Price>("98") };
  expect(feed.extremesSince("BTCUSDT", mark)).toEqual({ ...none, ...extremes, ...trades });
  expect(feed.extremesSince("BTCUSDT", later)).toEqual({ ...none, ...trades });
  expect(feed.extremesSince("ETHUSDT", 0)).toBeNull();
  await pass(fixture, keptMs + 1_000);
  expect(feed.extremesSince("BTCUSDT", mark)).toBeNull();
});

test("when too many symbols are warm, the one unused for longest goes, and never a watched one", async () => {
  const symbols = Array.from({ length: subscribedSymbolsMax + 1 }, (_, index) => `S${index}USDT`);
  const fixture = await createFixture(symbols);
  const { feed, time, tickers } = fixture;
  for (const symbol of symbols) tickers.set(symbol, ["99", "101"]);
  await feed.start();
  const [watched = "", unused = "", ...others] = symbols;
  feed.watch(watched, deaf);
  await Promise.all([feed.prepare(watched), feed.prepare(unused)]);
  time.advance(awaitedMs);
  await Promise.all(others.map((symbol) => feed.prepare(symbol)));
  expect(feed.status().symbols).toBe(subscribedSymbolsMax);
  expect(symbols.filter((symbol) => feed.quote(symbol) === null)).toEqual([unused]);
});

test("symbols whose first prices are awaited are not given up for each other, and are once they were had", async () => {
  const symbols = Array.from({ length: subscribedSymbolsMax + 20 }, (_, index) => `S${index}USDT`);
  const fixture = await createFixture(symbols, { asksAboutQuietSymbols: false });
  const { feed, time, tickers } = fixture;
  for (const symbol of symbols) tickers.set(symbol, ["99", "101"]);
  await feed.start();
  await Promise.all(symbols.map((symbol) => feed.prepare(symbol)));
  expect(symbols.filter((symbol) => feed.quote(symbol) === null)).toEqual([]);
  time.advance(awaitedMs);
  expect(feed.status().symbols).toBe(subscribedSymbolsMax);
});

test("a symbol without room for its streams has no quote, and its gap is reported when it has room", async () => {
  const fixture = await createFixture(["BTCUSDT"], { asksAboutQuietSymbols: false, connectionsMax: 1 });
  const { feed, upstream, time, tickers, logged } = fixture;
  tickers.set("BTCUSDT", ["99", "101"]);
  const others = Array.from({ length: streamsPerConnectionMax - 3 }, (_, index) => `s${index}@kline_1m`);
  const [leave] = others.map((stream) => feed.subscribe(stream, () => {}));
  await feed.start();
  const takenUpAt = time.now();
  const gaps: [from: number, to: number][] = [];
  feed.watch("BTCUSDT", { ...deaf, gap: (from, to) => gaps.push([from, to]) });
  await feed.prepare("BTCUSDT");
  expect(feed.status().quotes.accepted).toBe(1);
  expect(feed.quote("BTCUSDT")).toBeNull();
  expect(logged).toContain("the market connections are full: a stream is refused");

  for (let message = 1; message <= 11; message += 1) {
    await until(() => upstream.controls.length >= message);
    time.advance(334);
  }
  sendTicker(fixture, 1, "99", "102");
  await until(() => feed.status().quotes.accepted === 2);
  expect([feed.quote("BTCUSDT"), gaps]).toEqual([null, []]);

  leave?.();
  time.advance(1_000);
  await until(() => !upstream.subscribed().includes("s0@kline_1m"));
  time.advance(334);
  await until(() => upstream.subscribed().includes("btcusdt@avgPrice"));
  sendTicker(fixture, 2, "99", "103");
  await until(() => gaps.length === 1);
  expect(gaps).toEqual([[takenUpAt, time.now()]]);
  expect(feed.quote("BTCUSDT")).toEqual(quote("99", "103"));
});

test("all that may be warm fits on the connection, with room for candles", () => {
  expect(4 * subscribedSymbolsMax).toBeLessThanOrEqual(streamsPerConnectionMax - 200);
});
