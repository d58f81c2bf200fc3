// The differences of a futures feed, with an upstream that the test controls.
import { expect, test } from "vitest";
import { decimal, formatBriefly, type Price } from "../../money/decimal.ts";
import { controlIntervalMs } from "./streams/socket.ts";
import { silentAfterMs } from "./symbols/book.ts";
import { markOldAfterMs } from "./symbols/mark.ts";
import { firstPricesWaitMsMax } from "./symbols/subscribed-symbol.ts";
import { quietAfterMs } from "./symbols/subscribed-symbols.ts";
import { createFixture, type Fixture, nextFundingAt, settle } from "./testing/feed.ts";
import {
  marketPath,
  publicPath,
  sendContractDepth,
  sendContractTicker,
  sendMark,
  subscribedContractFixture,
} from "./testing/messages.ts";
import { until } from "./testing/upstream.ts";

const price = (text: string) => decimal<Price>(text);
const scheduled = { asksAboutQuietSymbols: false };

/** The events of a watcher of BTCUSDT, one word each; gaps in ms since the start. */
function listen({ feed, time }: Fixture): string[] {
  const heard: string[] = [];
  const startedAt = time.now();
  const textOf = (told: Price | null) => (told === null ? "-" : formatBriefly(told));
  feed.watch("BTCUSDT", {
    quote: ({ bid, ask }) => heard.push(`quote ${textOf(bid)} ${textOf(ask)}`),
    trade: (traded) => heard.push(`trade ${textOf(traded)}`),
    markPrice: (marked) => heard.push(`mark ${textOf(marked)}`),
    gap: (from, to) => heard.push(`gap ${from - startedAt} ${to - startedAt}`),
  });
  return heard;
}

/** Both routes have had messages since they were confirmed; the listener sees everything from now on. */
async function heardFixture(): Promise<{ readonly fixture: Fixture; readonly heard: string[] }> {
  const fixture = await subscribedContractFixture(scheduled);
  sendContractTicker(fixture, 1_000, "99", "101");
  sendMark(fixture, 1_000, "100");
  await until(
    () => fixture.feed.status().quotes.accepted === 2 && fixture.feed.status().marks.accepted === 2,
  );
  return { fixture, heard: listen(fixture) };
}

test("books and mark prices come on a route each, and trades are not subscribed", async () => {
  const { upstream } = await subscribedContractFixture();
  const on = (path: string) => upstream.subscribedOn(upstream.connectionTo(path)).sort();
  expect(on(publicPath)).toEqual(["btcusdt@bookTicker", "btcusdt@depth20@500ms"]);
  expect(on(marketPath)).toEqual(["btcusdt@markPrice@1s"]);
  expect(upstream.requests.toSorted()).toEqual([
    "/fapi/v1/exchangeInfo",
    "/fapi/v1/premiumIndex?symbol=BTCUSDT",
    "/fapi/v1/ticker/bookTicker?symbol=BTCUSDT",
  ]);
});

test("a strategy's stream is requested on the route that carries it", async () => {
  const { feed, upstream, time } = await subscribedContractFixture();
  feed.subscribe("btcusdt@kline_1m", () => {});
  feed.subscribe("btcusdt@depth20@100ms", () => {});
  feed.subscribe("!bookTicker", () => {});
  feed.subscribe("!markPrice@arr@1s", () => {});
  time.advance(1_000);
  await until(() => upstream.subscribed().length === 7);
  const on = (path: string) => upstream.subscribedOn(upstream.connectionTo(path));
  expect(on(publicPath)).toEqual(expect.arrayContaining(["btcusdt@depth20@100ms", "!bookTicker"]));
  expect(on(marketPath)).toEqual(expect.arrayContaining(["btcusdt@kline_1m", "!markPrice@arr@1s"]));
});

test("quote and mark price are there once a contract was prepared, last and average price never", async () => {
  const { feed } = await subscribedContractFixture();
  expect(feed.quote("BTCUSDT")).toEqual({ bid: price("99"), ask: price("101") });
  expect([feed.markPrice("BTCUSDT"), feed.nextFundingAt("BTCUSDT")]).toEqual([price("100"), nextFundingAt]);
  expect([feed.lastPrice("BTCUSDT"), feed.averagePrice("BTCUSDT")]).toEqual([null, null]);
  expect([feed.markPrice("ETHUSDT"), feed.nextFundingAt("ETHUSDT")]).toEqual([null, null]);
});

test("a mark price that does not come is waited for, within the same bound as the quote", async () => {
  const { feed, tickers, time } = await createFixture(["BTCUSDT"], { type: "FUTURES" });
  tickers.set("BTCUSDT", ["99", "101"]);
  await feed.start();
  const prepared = feed.prepare("BTCUSDT");
  await until(() => feed.quote("BTCUSDT") !== null);
  expect(feed.prepare("BTCUSDT")).toBeInstanceOf(Promise);
  time.advance(firstPricesWaitMsMax);
  await prepared;
  expect(feed.markPrice("BTCUSDT")).toBeNull();
});

test("a mark price by REST is ignored after a newer streamed one", async () => {
  const fixture = await createFixture(["BTCUSDT"], { type: "FUTURES" });
  const { feed, upstream, tickers } = fixture;
  tickers.set("BTCUSDT", ["99", "101"]);
  const answer = Promise.withResolvers<void>();
  upstream.reply("/fapi/v1/premiumIndex", async () => {
    await answer.promise;
    return { body: { symbol: "BTCUSDT", markPrice: "1", nextFundingTime: 1, time: 1 } };
  });
  await feed.start();
  const prepared = feed.prepare("BTCUSDT");
  await until(() => upstream.subscribed().length === 3);
  sendMark(fixture, 1, "100", 77);
  await prepared;
  answer.resolve();
  await settle(fixture);
  expect([feed.markPrice("BTCUSDT"), feed.nextFundingAt("BTCUSDT")]).toEqual([price("100"), 77]);
});

test("watchers receive quotes and mark prices in order; stale and crossed ones are dropped", async () => {
  const { fixture, heard } = await heardFixture();
  const { feed } = fixture;
  const sequence = feed.sequence();
  sendContractTicker(fixture, 1_001, "98", "101");
  sendContractTicker(fixture, 1_000, "50", "51");
  sendContractDepth(fixture, 1_002, "102", "101");
  sendContractDepth(fixture, 1_003, "97", "101");
  await until(() => heard.length === 2);
  sendMark(fixture, 2_000, "103");
  sendMark(fixture, 1_000, "50");
  sendMark(fixture, 3_000, "101");
  await until(() => heard.length === 4);
  expect(heard).toEqual(["quote 98 101", "quote 97 101", "mark 103", "mark 101"]);
  expect(feed.status().quotes).toMatchObject({ stale: 1, crossed: 1 });
  expect(feed.status().marks).toMatchObject({ accepted: 4, stale: 1, malformed: 0 });
  expect(feed.extremesSince("BTCUSDT", sequence)).toEqual({
    highestBid: price("98"),
    lowestAsk: price("101"),
    highestTrade: null,
    lowestTrade: null,
    highestMark: price("103"),
    lowestMark: price("101"),
  });
});

test("a mark price is no sign of life of the book, and the book none of the mark price", async () => {
  const { fixture, heard } = await heardFixture();
  const { feed, time } = fixture;
  for (let second = 1; second <= 6; second += 1) {
    time.advance(1_000);
    sendMark(fixture, 1_000 + second * 1_000, "100");
    await until(() => heard.length === second);
  }
  expect([feed.quote("BTCUSDT"), feed.markPrice("BTCUSDT")]).toEqual([null, price("100")]);
  expect(heard).toEqual(Array(6).fill("mark 100"));
  sendContractDepth(fixture, 1, "99", "101");
  await until(() => heard.length === 8);
  expect(heard.slice(6)).toEqual(["gap 0 6000", "quote 99 101"]);

  // Now the other way round: 6 s, and again 4 s, until the mark price is old.
  let updates = 1;
  for (const ms of [3_000, 3_000, 3_999]) {
    time.advance(ms);
    updates += 1;
    sendContractDepth(fixture, updates, "99", "101");
    const { alive } = feed.status().quotes;
    await until(() => feed.status().quotes.alive > alive);
  }
  expect(feed.quote("BTCUSDT")).not.toBeNull();
  expect(feed.markPrice("BTCUSDT")).toBe(price("100"));
  time.advance(markOldAfterMs - 9_999);
  expect([feed.markPrice("BTCUSDT"), feed.lastMarkPrice("BTCUSDT")]).toEqual([null, price("100")]);
  sendMark(fixture, 1, "102");
  await until(() => feed.markPrice("BTCUSDT") === price("102"));
  expect(heard.slice(8)).toEqual(["gap 6000 16000", "mark 102"]);
});

test.each([
  ["public", publicPath, marketPath],
  ["market", marketPath, publicPath],
])("a break of the %s route alone is announced, once and without a hole", async (_name, broken, whole) => {
  const { fixture, heard } = await heardFixture();
  const { feed, upstream, time } = fixture;
  const stays = upstream.connectionTo(whole);
  // REST, which would end the gap as well, has no data.
  fixture.tickers.clear();
  fixture.marks.clear();
  upstream.drop(upstream.connectionTo(broken));
  await until(() => !feed.status().connected);
  // Before the first attempt to connect again.
  time.advance(50);
  // The remaining route has messages throughout.
  if (broken === publicPath) sendMark(fixture, 2_000, "90");
  else sendContractTicker(fixture, 1_001, "90", "91");
  await until(() => heard.length === 2);
  time.advance(50);
  await until(() => feed.status().connected && upstream.subscribed().length === 3);
  await settle(fixture);
  time.advance(200);
  expect(upstream.connectionTo(whole)).toBe(stays);
  // Ids and times of the new connection may begin again.
  sendContractTicker(fixture, 2_000, "96", "97");
  sendMark(fixture, broken === marketPath ? 5 : 5_000, "96");
  await until(() => heard.includes("quote 96 97") && heard.includes("mark 96"));
  const gaps = heard
    .filter((line) => line.startsWith("gap"))
    .map((line) => line.split(" ").map(Number).slice(1));
  expect([gaps[0], gaps.at(-1)?.[1]]).toEqual([[0, 50], 300]);
  // Together they reach from the break to the end without meeting twice.
  for (const [index, [from]] of gaps.entries()) expect(from).toBe(gaps[index - 1]?.[1] ?? 0);
  expect(gaps).toHaveLength(new Set(gaps.map(String)).size);
});

/** So many other streams that BTCUSDT's first and its later ones are requested by different messages. */
const betweenStreams = Array.from({ length: 100 }, (_, index) => `other${index}usdt@kline_1m`);

test("the gap of a followed book lasts until its trades are confirmed, however late they are requested", async () => {
  const { fixture, heard } = await heardFixture();
  const { feed, upstream, time } = fixture;
  fixture.tickers.clear();
  fixture.marks.clear();
  for (const stream of betweenStreams) feed.subscribe(stream, () => {});
  feed.followBook("BTCUSDT", () => {});
  const isStreaming = () => feed.isStreaming("btcusdt@aggTrade") && feed.isStreaming("btcusdt@depth@100ms");
  time.advance(2 * controlIntervalMs);
  await until(isStreaming);
  sendMark(fixture, 2_000, "100");
  await until(() => heard.length === 2);
  // Trades were missed until its streams were confirmed.
  expect(heard.splice(0)).toEqual([`gap 0 ${2 * controlIntervalMs}`, "mark 100"]);

  upstream.drop(upstream.connectionTo(marketPath));
  await until(() => !feed.status().connected);
  time.advance(100);
  await until(() => feed.isStreaming("btcusdt@markPrice@1s"));
  expect(feed.isStreaming("btcusdt@aggTrade")).toBe(false);
  sendMark(fixture, 5, "99");
  await until(() => heard.length === 2);
  time.advance(controlIntervalMs);
  await until(isStreaming);
  sendMark(fixture, 6, "98");
  await until(() => heard.length === 4);
  const [lostAt, backAt] = [2 * controlIntervalMs, 2 * controlIntervalMs + 100];
  const gaps = [`gap ${lostAt} ${backAt}`, `gap ${backAt} ${backAt + controlIntervalMs}`];
  expect(heard).toEqual([gaps[0], "mark 99", gaps[1], "mark 98"]);
});

test("after a reconnect the quotes and mark prices of all contracts are requested with one request each", async () => {
  const fixture = await subscribedContractFixture(scheduled);
  const { feed, upstream, time, tickers, marks } = fixture;
  tickers.set("ETHUSDT", ["9", "10"]);
  marks.set("ETHUSDT", "9.5");
  await feed.prepare("ETHUSDT");
  const before = upstream.requests.length;
  tickers.set("BTCUSDT", ["89", "90"]);
  marks.set("BTCUSDT", "89.5");
  upstream.dropConnections();
  await until(() => !feed.status().connected);
  time.advance(100);
  await until(
    () => feed.markPrice("BTCUSDT") === price("89.5") && feed.quote("BTCUSDT")?.bid === price("89"),
  );
  // Two connections, of which each carries both.
  const asked = new Set(upstream.requests.slice(before));
  expect([...asked].sort()).toEqual(["/fapi/v1/premiumIndex", "/fapi/v1/ticker/bookTicker"]);
});

test("a quiet book is requested while its route is open, whatever happens to the other", async () => {
  const fixture = await subscribedContractFixture();
  const { feed, upstream, time } = fixture;
  upstream.setAccepting(false);
  upstream.drop(upstream.connectionTo(marketPath));
  await until(() => !feed.status().connected);
  const { alive } = feed.status().quotes;
  time.advance(quietAfterMs);
  await until(() => feed.status().quotes.alive === alive + 1);
  upstream.drop(upstream.connectionTo(publicPath));
  await until(() => upstream.subscribed().length === 0);
  const asked = upstream.requests.length;
  for (let second = 0; second < silentAfterMs / 1_000; second += 1) {
    time.advance(1_000);
    await settle(fixture);
  }
  expect(feed.quote("BTCUSDT")).toBeNull();
  expect(upstream.requests.slice(asked).filter((line) => line.includes("bookTicker"))).toEqual([]);
});

test("half of the connections are for each route, and at least one", async () => {
  const fixture = await createFixture(["BTCUSDT"], { type: "FUTURES", connectionsMax: 1 });
  await fixture.feed.start();
  await until(() => fixture.feed.status().connected);
  expect(fixture.upstream.connections()).toBe(2);
});

test("a pair has no mark price, no funding and nothing that was marked, and asks nothing about them", async () => {
  const { feed, upstream } = await createFixture(["BTCUSDT"]);
  await feed.start();
  const asked = upstream.requests.length;
  expect([feed.type, feed.markPrice("BTCUSDT"), feed.nextFundingAt("BTCUSDT")]).toEqual(["SPOT", null, null]);
  expect(await feed.markedBetween("BTCUSDT", 0, 600_000)).toEqual([]);
  expect(await feed.settlementsBetween("BTCUSDT", 0, 600_000)).toEqual([]);
  expect(upstream.requests).toHaveLength(asked);
});
