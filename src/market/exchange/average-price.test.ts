import { afterEach, expect, test } from "vitest";
import { createSimulatedSources } from "../simulated/source.ts";
import { type Exchange, openExchange } from "./open.ts";
import type { Source } from "./source.ts";
import { StreamClient } from "./testing/stream-client.ts";

const startAt = Date.UTC(2026, 9, 10, 12);
const { SPOT: spot, FUTURES: futures } = createSimulatedSources("1");

let now = startAt;
const open: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

/** The streams of a source, and the messages of one of them in the next three seconds. */
async function createFixture(source: Source, stream: string) {
  now = startAt;
  const exchange = await openExchange({
    markets: { SPOT: source, FUTURES: futures },
    clock: { now: () => now },
    manual: true,
  });
  exchange.pump();
  const client = await StreamClient.open(`${exchange.spotWsUrl}/stream?streams=${stream}`);
  open.push(exchange.close, () => client.close());
  now += 3_500;
  exchange.pump();
  return { exchange, messages: await client.received() };
}

async function askAverage({ spotRestUrl }: Exchange): Promise<{ price: string; closeTime: number }> {
  const answer = await fetch(`${spotRestUrl}/api/v3/avgPrice?symbol=ETHBTC`);
  return (await answer.json()) as { price: string; closeTime: number };
}

test("the average price of the last five minutes is published every second, as by REST", async () => {
  const { exchange, messages } = await createFixture(spot, "ethbtc@avgPrice");
  expect(messages.map(({ data }) => data.E)).toEqual([1, 2, 3].map((second) => startAt + second * 1_000));
  now = startAt + 3_000;
  const { price, closeTime } = await askAverage(exchange);
  expect(messages.at(-1)).toEqual({
    stream: "ethbtc@avgPrice",
    data: { e: "avgPrice", E: now, s: "ETHBTC", i: "5m", w: price, T: closeTime },
  });
});

test("where nothing was traded in five minutes the average is the last price", async () => {
  const { exchange } = await createFixture({ ...spot, statistics: () => undefined }, "ethbtc@avgPrice");
  expect((await askAverage(exchange)).price).toBe(spot.lastTrade("ETHBTC", now)?.price);
});

test("a pair that was never traded has no average", async () => {
  const untraded: Source = { ...spot, statistics: () => undefined, lastTrade: () => undefined };
  const { messages } = await createFixture(untraded, "ethbtc@avgPrice");
  expect(messages).toEqual([]);
});

test.each(["ethbtc@avgPrice@1000ms", "nope@avgPrice"])("%s is no stream", async (stream) => {
  const { messages } = await createFixture(spot, stream);
  expect(messages).toEqual([]);
});
