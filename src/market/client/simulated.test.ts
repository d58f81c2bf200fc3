// The client against the simulated exchange, both as they run: real sockets, the time moved by hand.
import { expect, test } from "vitest";
import type { ManualTime } from "../../concurrency/testing/manual-time.ts";
import type { Clock } from "../../concurrency/time.ts";
import type { Quote } from "../../domain/market.ts";
import { decimal, type Price } from "../../money/decimal.ts";
import { averagePrice } from "../exchange/tickers.ts";
import type { PriceRange } from "../feed.ts";
import { createSimulatedSources } from "../simulated/source.ts";
import { silentAfterMs } from "./symbols/book.ts";
import { openSimulatedFixture, SEED } from "./testing/simulated-fixture.ts";
import { until } from "./testing/upstream.ts";

const { SPOT: source } = createSimulatedSources(String(SEED));
const price = (text = "") => decimal<Price>(text);

const createFixture = (clockOf?: (time: ManualTime) => Clock) =>
  openSimulatedFixture("SPOT", clockOf === undefined ? {} : { clockOf });

test("every spot symbol has rules and quotes equal to those of REST", async () => {
  const { feed, pass } = await createFixture();
  const symbols = [...feed.exchangeInfo().symbols.keys()];
  expect(symbols.length).toBeGreaterThanOrEqual(20);
  const heard = new Map<string, Quote>();
  for (const symbol of symbols) {
    feed.watch(symbol, { quote: (quote) => heard.set(symbol, quote), trade() {}, markPrice() {}, gap() {} });
  }
  await Promise.all(symbols.map((symbol) => feed.prepare(symbol)));
  await pass(10_000);
  for (const symbol of symbols) {
    expect(feed.rules(symbol)).toMatchObject({
      symbol,
      orderTypes: expect.arrayContaining(["LIMIT", "MARKET", "STOP_LOSS", "STOP_LOSS_LIMIT"]),
      priceFilter: expect.anything(),
      lotSize: expect.anything(),
      percentPriceBySide: { buy: expect.anything(), sell: expect.anything(), reference: "AVERAGE" },
      notional: { reference: "AVERAGE" },
      maxNumOrders: 200,
      maxNumAlgoOrders: 5,
    });
    const answer = await feed.query("/api/v3/ticker/bookTicker", new URLSearchParams({ symbol }));
    if (answer.unavailable) throw new Error(answer.reason);
    const { bidPrice, askPrice } = JSON.parse(answer.text) as { bidPrice: string; askPrice: string };
    const told = { bid: decimal<Price>(bidPrice), ask: decimal<Price>(askPrice) };
    expect([symbol, feed.quote(symbol)]).toEqual([symbol, told]);
    expect(heard.get(symbol)).toEqual(told);
    const at = feed.now();
    expect([symbol, feed.lastPrice(symbol)]).toEqual([symbol, price(source.lastTrade(symbol, at)?.price)]);
    // The average is published every second.
    const average = averagePrice(source, symbol, Math.floor(at / 1_000) * 1_000);
    expect([symbol, feed.averagePrice(symbol)]).toEqual([symbol, price(average.price)]);
  }
  expect(feed.status().quotes).toMatchObject({ stale: 0, crossed: 0, malformed: 0 });
});

test("a symbol that the exchange silences has no quote although the others and REST work, and comes back", async () => {
  const { exchange, feed, pass } = await createFixture();
  await Promise.all([feed.prepare("BTCUSDT"), feed.prepare("ETHUSDT")]);
  await pass(2_000);
  exchange.silenceStreams("BTCUSDT");
  await pass(6_000);
  await feed.prepare("BTCUSDT");
  expect(feed.quote("BTCUSDT")).toBeNull();
  expect(feed.quote("ETHUSDT")).not.toBeNull();
  exchange.resumeStreams("BTCUSDT");
  await pass(1_000);
  expect(feed.quote("BTCUSDT")).not.toBeNull();
});

test("an exchange that is away for a while leaves no quote, keeps the rules and is taken up again", async () => {
  const { exchange, time, feed, pass } = await createFixture();
  await feed.prepare("BTCUSDT");
  await pass(1_000);
  exchange.refuseConnections(true);
  exchange.refuseRest();
  exchange.dropConnections();
  await until(() => !feed.status().connected);
  time.advance(6_000);
  expect(feed.quote("BTCUSDT")).toBeNull();
  expect(feed.rules("BTCUSDT")).not.toBeNull();
  expect(await feed.query("/api/v3/time", "")).toMatchObject({ unavailable: true });
  exchange.refuseConnections(false);
  exchange.resumeRest();
  await until(() => {
    time.advance(1_000);
    return feed.status().connected;
  });
  await pass(2_000);
  expect(feed.quote("BTCUSDT")).not.toBeNull();
});

test("every trade was received or lies in the trades of the gaps", async () => {
  const { exchange, feed, pass, answerOf, interrupt } = await createFixture();
  const heard = new Set<number>();
  const gaps: { readonly from: number; readonly to: number }[] = [];
  feed.subscribe("btcusdt@trade", (data) => heard.add((data as { t: number }).t));
  feed.watch("BTCUSDT", {
    quote() {},
    trade() {},
    markPrice() {},
    gap: (from, to) => gaps.push({ from, to }),
  });
  const from = feed.now();
  await pass(2_000);
  // Long enough for candles.
  await interrupt(200_000);
  await pass(3_000);
  exchange.silenceStreams("BTCUSDT");
  await pass(9_000);
  exchange.resumeStreams("BTCUSDT");
  await pass(3_000);

  const lengths = gaps.map((gap) => gap.to - gap.from);
  expect([lengths.some((length) => length > 200_000), lengths.some((length) => length > 8_000)]).toEqual([
    true,
    true,
  ]);
  const spans: PriceRange[] = [];
  for (const gap of gaps) {
    spans.push(...((await answerOf(feed.tradedBetween("BTCUSDT", gap.from, gap.to))) ?? []));
  }
  const trades = source.trades("BTCUSDT", feed.now(), { startTime: from, limit: 10_000 });
  const missing = trades.filter(({ id, at }) => {
    const told = spans.some((span) => span.from <= at && at <= span.to);
    return !heard.has(id) && !told && at <= (gaps.at(-1)?.to ?? 0);
  });
  expect(missing).toEqual([]);
  expect(trades.length - heard.size).toBeGreaterThan(1_000);
});

test("a crossed book and an old update id of the exchange change nothing", async () => {
  const { exchange, feed, pass } = await createFixture();
  await feed.prepare("BTCUSDT");
  await pass(2_000);
  const { quotes } = feed.status();
  const held = feed.quote("BTCUSDT");
  exchange.sendRaw("btcusdt@bookTicker", {
    u: Number.MAX_SAFE_INTEGER,
    s: "BTCUSDT",
    b: "2",
    B: "1",
    a: "1",
    A: "1",
  });
  exchange.sendRaw("btcusdt@bookTicker", { u: 1, s: "BTCUSDT", b: "1", B: "1", a: "2", A: "1" });
  await until(() => feed.status().quotes.stale > quotes.stale);
  expect(feed.status().quotes).toEqual({ ...quotes, crossed: quotes.crossed + 1, stale: quotes.stale + 1 });
  expect(feed.quote("BTCUSDT")).toEqual(held);
});

test.each([-1, 1])(
  "a system clock that is set by %i day does not silence the market for longer than the bound",
  async (days) => {
    let shiftMs = 0;
    const { exchange, feed, time, pass } = await createFixture((own) => ({ now: () => own.now() + shiftMs }));
    feed.watch("BTCUSDT", { quote() {}, trade() {}, markPrice() {}, gap() {} });
    await feed.prepare("BTCUSDT");
    await pass(3_000);
    const before = feed.status().quotes.accepted;
    shiftMs = days * 24 * 60 * 60_000;
    const setAt = time.now();
    let silentMs = 0;
    let newsAt: number | null = null;
    while (time.now() - setAt < 20_000) {
      time.advance(100);
      exchange.pump();
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      if (feed.quote("BTCUSDT") === null) silentMs += 100;
      if (newsAt === null && feed.status().quotes.accepted > before) newsAt = time.now();
    }
    expect(silentMs).toBeLessThanOrEqual(silentAfterMs);
    expect((newsAt ?? Number.POSITIVE_INFINITY) - setAt).toBeLessThanOrEqual(silentAfterMs);
    expect(feed.quote("BTCUSDT")).not.toBeNull();
  },
);
