// The client of futures against the simulated exchange, both as they run: real sockets, the time moved by
// hand.
import { expect, test } from "vitest";
import { createManualTime } from "../../concurrency/testing/manual-time.ts";
import { decimal, type Price } from "../../money/decimal.ts";
import type { PriceRange } from "../feed.ts";
import { createSimulatedSources } from "../simulated/source.ts";
import { openSimulatedFixture, SEED } from "./testing/simulated-fixture.ts";
import { until } from "./testing/upstream.ts";

const { FUTURES: source } = createSimulatedSources(String(SEED));
const price = (text = "") => decimal<Price>(text);
const symbol = "BTCUSDT";
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

const createFixture = (startAt?: number) =>
  openSimulatedFixture("FUTURES", startAt === undefined ? {} : { startAt });

/** The exchange's mark price of a contract in the second of `at`. */
const toldAt = (name: string, at: number) => source.premium(name, Math.floor(at / 1_000) * 1_000);

test("every contract has rules, brackets, a quote and a mark price equal to those of REST", async () => {
  const { feed, pass } = await createFixture();
  const symbols = [...feed.exchangeInfo().symbols.keys()];
  expect(symbols.length).toBeGreaterThanOrEqual(12);
  const heard = new Map<string, Price>();
  for (const name of symbols) {
    const listener = { quote() {}, trade() {}, gap() {}, markPrice: (told: Price) => heard.set(name, told) };
    feed.watch(name, listener);
  }
  await Promise.all(symbols.map((name) => feed.prepare(name)));
  await pass(10_000);
  for (const name of symbols) {
    expect(feed.rules(name)).toMatchObject({
      symbol: name,
      quoteAsset: "USDT",
      priceFilter: expect.anything(),
      lotSize: expect.anything(),
      marketLotSize: expect.anything(),
      notional: { reference: "MARK" },
      percentPrice: { reference: "MARK" },
      maxNumOrders: 200,
      maxNumAlgoOrders: 10,
      contract: { marginAsset: "USDT", brackets: expect.arrayContaining([expect.anything()]) },
    });
    const answer = await feed.query("/fapi/v1/ticker/bookTicker", new URLSearchParams({ symbol: name }));
    if (answer.unavailable) throw new Error(answer.reason);
    const { bidPrice, askPrice } = JSON.parse(answer.text) as { bidPrice: string; askPrice: string };
    expect([name, feed.quote(name)]).toEqual([name, { bid: price(bidPrice), ask: price(askPrice) }]);
    const told = toldAt(name, feed.now());
    expect([name, feed.markPrice(name), heard.get(name)]).toEqual([
      name,
      price(told.markPrice),
      price(told.markPrice),
    ]);
    expect([name, feed.nextFundingAt(name)]).toEqual([name, told.nextFundingAt]);
  }
  expect(feed.status().quotes).toMatchObject({ stale: 0, crossed: 0, malformed: 0 });
  expect(feed.status().marks).toMatchObject({ stale: 0, malformed: 0 });
});

test("a contract that the exchange silences has neither quote nor mark price although the others go on", async () => {
  const { exchange, feed, pass } = await createFixture();
  await Promise.all([feed.prepare("BTCUSDT"), feed.prepare("ETHUSDT")]);
  await pass(2_000);
  exchange.silenceStreams("BTCUSDT");
  await pass(11_000);
  expect([feed.quote("BTCUSDT"), feed.markPrice("BTCUSDT")]).toEqual([null, null]);
  expect(feed.quote("ETHUSDT")).not.toBeNull();
  expect(feed.markPrice("ETHUSDT")).not.toBeNull();
  exchange.resumeStreams("BTCUSDT");
  await pass(2_000);
  expect(feed.quote("BTCUSDT")).not.toBeNull();
  expect(feed.markPrice("BTCUSDT")).not.toBeNull();
});

test("minutes in the gaps that were not received completely have the right mark prices", async () => {
  const { feed, pass, answerOf, interrupt } = await createFixture();
  const heard: { readonly at: number; readonly price: Price }[] = [];
  const gaps: { readonly from: number; readonly to: number }[] = [];
  feed.watch(symbol, {
    quote() {},
    trade() {},
    markPrice: (told) => heard.push({ at: feed.now(), price: told }),
    gap: (from, to) => gaps.push({ from, to }),
  });
  const from = feed.now();
  await pass(2_000);
  await interrupt(260_000);
  await pass(3_000);
  const to = feed.now();
  const spans: PriceRange[] = [];
  for (const gap of gaps)
    spans.push(...((await answerOf(feed.markedBetween(symbol, gap.from, gap.to))) ?? []));
  expect(spans.length).toBeGreaterThanOrEqual(3);
  for (const span of spans) {
    const told = source.markStatistics(symbol, "mark", span.from, span.to + 1);
    expect([span.lowest, span.highest]).toEqual([price(told?.low), price(told?.high)]);
  }
  // It includes every whole minute whose seconds were not all received live.
  const seconds = new Set(heard.map(({ at }) => Math.floor(at / 1_000)));
  for (let open = Math.ceil(from / minuteMs) * minuteMs; open + minuteMs <= to; open += minuteMs) {
    const isHeard = Array.from({ length: 60 }, (_, second) => open / 1_000 + second).every((at) =>
      seconds.has(at),
    );
    if (!isHeard) expect(spans.map((span) => span.from)).toContain(open);
  }
});

test("the trades of an interval are those of the exchange", async () => {
  const { time, feed, answerOf } = await createFixture();
  const to = time.now();
  const from = to - 5 * minuteMs - 12_345;
  const spans = (await answerOf(feed.tradedBetween(symbol, from, to))) ?? [];
  const told = source.statistics(symbol, from, to + 1);
  const sorted = (prices: readonly Price[]) => prices.toSorted((one, other) => (one < other ? -1 : 1));
  expect(sorted(spans.map(({ lowest }) => lowest))[0]).toBe(price(told?.low));
  expect(sorted(spans.map(({ highest }) => highest)).at(-1)).toBe(price(told?.high));
});

test("a settlement is reported when it is published, at the mark price that was streamed at its time", async () => {
  const due = Math.ceil(createManualTime().now() / (8 * hourMs)) * 8 * hourMs;
  const { feed, pass, answerOf } = await createFixture(due - 5_000);
  const heard = new Map<number, Price>();
  feed.watch(symbol, {
    quote() {},
    trade() {},
    gap() {},
    markPrice: (told) => heard.set(Math.floor(feed.now() / 1_000) * 1_000, told),
  });
  await feed.prepare(symbol);
  await pass(3_000);
  expect(feed.nextFundingAt(symbol)).toBe(due);
  expect(await answerOf(feed.settlementsBetween(symbol, due - 1_000, due + minuteMs))).toEqual([]);
  await pass(5_000);
  expect(feed.nextFundingAt(symbol)).toBe(due + 8 * hourMs);
  const [settlement, ...others] =
    (await answerOf(feed.settlementsBetween(symbol, due - 1_000, due + minuteMs))) ?? [];
  expect(others).toEqual([]);
  expect(settlement?.markPrice).toBe(heard.get(due));
  expect(Math.abs((settlement?.fundingTime ?? 0) - due)).toBeLessThan(1_000);
  const month = await answerOf(feed.settlementsBetween(symbol, due - 30 * 24 * hourMs, due - hourMs));
  expect(month).toHaveLength(90);
  expect(month?.every(({ fundingTime }, index) => fundingTime > (month[index - 1]?.fundingTime ?? 0))).toBe(
    true,
  );
});

test("a crossed book, an old update id and an old mark price of the exchange change nothing", async () => {
  const { exchange, time, feed, pass } = await createFixture();
  await feed.prepare(symbol);
  await pass(2_000);
  const { quotes, marks } = feed.status();
  const [quote, mark] = [feed.quote(symbol), feed.markPrice(symbol)];
  const ticker = { e: "bookTicker", E: time.now(), T: 1, s: symbol, B: "1", A: "1" };
  exchange.sendRaw(
    "btcusdt@bookTicker",
    { ...ticker, u: Number.MAX_SAFE_INTEGER, b: "2", a: "1" },
    "FUTURES",
  );
  exchange.sendRaw("btcusdt@bookTicker", { ...ticker, u: 1, b: "1", a: "2" }, "FUTURES");
  exchange.sendRaw(
    "btcusdt@markPrice@1s",
    { e: "markPriceUpdate", E: time.now() - 1_000, s: symbol, p: "1", T: 1 },
    "FUTURES",
  );
  await until(() => feed.status().quotes.stale > quotes.stale && feed.status().marks.stale > marks.stale);
  expect(feed.status().quotes).toEqual({ ...quotes, crossed: quotes.crossed + 1, stale: quotes.stale + 1 });
  expect([feed.quote(symbol), feed.markPrice(symbol)]).toEqual([quote, mark]);
});

test("across change-overs of both routes no mark price is missed and no gap is reported", async () => {
  const { exchange, time, feed } = await createFixture();
  const times: number[] = [];
  const gaps: number[] = [];
  feed.subscribe("btcusdt@markPrice@1s", (data) => times.push((data as { E: number }).E));
  await feed.prepare(symbol);
  async function step(): Promise<void> {
    time.advance(20);
    exchange.pump();
    for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }
  while (feed.status().marks.accepted < 2 || feed.status().quotes.accepted < 2) await step();
  feed.watch(symbol, { quote() {}, trade() {}, markPrice() {}, gap: (from) => gaps.push(from) });
  const first = feed.status().connects;
  for (let round = 1; round <= 3; round += 1) {
    exchange.announceShutdown();
    while (feed.status().connects < first + 2 * round) {
      await step();
      expect(feed.status().connected).toBe(true);
    }
  }
  expect(gaps).toEqual([]);
  expect(times.length).toBeGreaterThan(3);
  for (const [index, at] of times.entries()) if (index > 0) expect(at - (times[index - 1] ?? 0)).toBe(1_000);
});
