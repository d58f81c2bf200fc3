// A client's own book in step with the exchange's: changes by stream, the snapshot by REST, both at the
// gateway.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { StrategyType } from "../../src/domain/account.ts";
import { graceMs } from "../../src/market/client/streams/subscriptions.ts";
import type { StreamClient } from "../../src/market/exchange/testing/stream-client.ts";
import { type Change, FollowedBook, type Snapshot } from "../support/followed-book.ts";
import { seededRandom } from "../support/random.ts";
import { testSeed } from "../support/seed.ts";
import { stayOnLoopback } from "../support/servers/loopback-only.ts";
import { openSocketFixture, type SocketFixture } from "../support/sockets/socket-fixture.ts";

stayOnLoopback();

const seed = testSeed();
const random = seededRandom(seed);

let fixture: SocketFixture;

beforeAll(async () => {
  console.log(`seed ${seed}`);
  fixture = await openSocketFixture({ seed });
});
afterAll(() => fixture.close());

const REST = { SPOT: "/api/v3/depth", FUTURES: "/fapi/v1/depth" } as const;
const SOCKET = { SPOT: "/ws", FUTURES: "/public/ws" } as const;

/** Messages that some clients refuse. */
const withoutLevels: Change[] = [];

/** The book that a client keeps of a connection. */
function follow(type: StrategyType, client: StreamClient): FollowedBook {
  const book = new FollowedBook(type);
  client.socket.on("message", (data) => {
    const message = JSON.parse(String(data)) as Change & { readonly e?: string };
    if (message.e !== "depthUpdate") return;
    if (message.b.length + message.a.length === 0) withoutLevels.push(message);
    book.hear(message);
  });
  return book;
}

const snapshotOf = (type: StrategyType, symbol: string) =>
  fixture.read<Snapshot>(`${REST[type]}?symbol=${symbol}&limit=100`);

/** The exchange's book of now, not through the gateway. */
async function exchangeBook(type: StrategyType, symbol: string): Promise<Snapshot> {
  return (
    await fetch(`${fixture.exchange.spotRestUrl}${REST[type]}?symbol=${symbol}&limit=100`)
  ).json() as Promise<Snapshot>;
}

/** Lets time pass to a whole second, at which every speed sends, and compares. */
async function expectInStep(type: StrategyType, symbol: string, book: FollowedBook, client: StreamClient) {
  await fixture.pass(1_000 - (fixture.time.now() % 1_000), 100);
  await client.received();
  const { lastUpdateId, bids, asks } = await exchangeBook(type, symbol);
  expect(book.fault).toBeNull();
  expect(withoutLevels).toEqual([]);
  expect(book.lastId).toBe(lastUpdateId);
  expect(book.sides()).toEqual({ bids, asks });
}

describe.each([
  ["SPOT", "btcusdt@depth@100ms"],
  ["SPOT", "ethusdt@depth"],
  ["FUTURES", "btcusdt@depth@100ms"],
  ["FUTURES", "ethusdt@depth"],
  ["FUTURES", "solusdt@depth@500ms"],
  ["FUTURES", "solusdt@depth@0ms"],
] as const)("%s %s", (type, stream) => {
  const symbol = (stream.split("@")[0] ?? "").toUpperCase();

  test("stays in step from a snapshot after the first change", async () => {
    const client = await fixture.open(`${SOCKET[type]}/${stream}`);
    const book = follow(type, client);
    await fixture.confirmed(type, stream);
    await fixture.pass(2_000, 100);
    book.load(await snapshotOf(type, symbol));
    for (let round = 0; round < 20; round += 1) {
      await fixture.pass(50 + Math.floor(random() * 2_000), 50 + Math.floor(random() * 400));
      await expectInStep(type, symbol, book, client);
    }
    expect(book.applied).toBeGreaterThan(20);
    client.close();
  });

  test("stays in step from a snapshot that is asked for right after the answer to SUBSCRIBE", async () => {
    // Nobody has followed this one, so upstream has yet to confirm it.
    const other = stream.replace(/^[a-z]+/, "bnbusdt");
    // Cached for half a second, and older than the subscription.
    await snapshotOf(type, "BNBUSDT");
    const client = await fixture.open(SOCKET[type]);
    const book = follow(type, client);
    // Upstream takes three of these a second, so the second one waits.
    await client.ask("SUBSCRIBE", ["ethusdt@miniTicker"]);
    await client.ask("SUBSCRIBE", [other]);
    expect(fixture.feeds[type].clientStreams.isStreaming(other)).toBe(false);
    book.load(await snapshotOf(type, "BNBUSDT"));
    expect(fixture.feeds[type].clientStreams.isStreaming(other)).toBe(true);
    await expectInStep(type, "BNBUSDT", book, client);
    expect(book.applied).toBeGreaterThan(0);
    client.close();
    await fixture.pass(graceMs + 1_000);
  });

  test("of a second client of a stream that runs is in step as well, though the first one's answer is cached", async () => {
    const first = await fixture.open(`${SOCKET[type]}/${stream}`);
    const early = follow(type, first);
    await fixture.confirmed(type, stream);
    early.load(await snapshotOf(type, symbol));
    for (let round = 0; round < 10; round += 1) {
      await fixture.pass(100);
      // The same request, a moment before.
      await snapshotOf(type, symbol);
      await fixture.pass(100 + Math.floor(random() * 100));
      const client = await fixture.open(`${SOCKET[type]}/${stream}`);
      const book = follow(type, client);
      await fixture.pass(Math.floor(random() * 150));
      book.load(await snapshotOf(type, symbol));
      await expectInStep(type, symbol, book, client);
      client.close();
    }
    await expectInStep(type, symbol, early, first);
    first.close();
  });

  test("shows a gap of upstream in the sequence, and a new snapshot is in step", async () => {
    const client = await fixture.open(`${SOCKET[type]}/${stream}`);
    const book = follow(type, client);
    await fixture.confirmed(type, stream);
    book.load(await snapshotOf(type, symbol));
    await expectInStep(type, symbol, book, client);

    const gaps = [
      () => fixture.interrupt(3_000),
      async () => {
        fixture.exchange.silenceStreams(symbol);
        await fixture.pass(2_000, 100);
        fixture.exchange.resumeStreams(symbol);
      },
    ];
    for (const gap of gaps) {
      // Asked for during the outage, so that it could be cached.
      await snapshotOf(type, symbol);
      await gap();
      await fixture.confirmed(type, stream);
      for (let steps = 0; book.fault === null && steps < 40; steps += 1) {
        await fixture.pass(50);
        await client.received();
      }
      expect(book.fault).toMatch(/^the change/);
      book.load(await snapshotOf(type, symbol));
      await expectInStep(type, symbol, book, client);
    }
    client.close();
  });
});

test("best prices, the partial book and the changes share one sequence of ids with REST", async () => {
  const names = ["btcusdt@bookTicker", "btcusdt@depth5@100ms", "btcusdt@depth@100ms"];
  const client = await fixture.open(`/stream?streams=${names.join("/")}`);
  for (const name of names) await fixture.confirmed("SPOT", name);
  client.forget();
  await fixture.pass(1_000 - (fixture.time.now() % 1_000), 100);
  await fixture.pass(5_000, 100);
  const messages = await client.received();
  const of = (name: string) =>
    messages.filter(({ stream }) => stream === name).map(({ data }) => data as Record<string, unknown>);
  const partial = of("btcusdt@depth5@100ms").at(-1);
  const [ticker, change] = [of("btcusdt@bookTicker").at(-1), of("btcusdt@depth@100ms").at(-1)];
  const { lastUpdateId, bids, asks } = await exchangeBook("SPOT", "BTCUSDT");
  expect(partial).toEqual({ lastUpdateId, bids: bids.slice(0, 5), asks: asks.slice(0, 5) });
  expect(change?.u).toBe(lastUpdateId);
  expect(ticker?.u).toBeLessThanOrEqual(lastUpdateId);
  expect([ticker?.b, ticker?.a]).toEqual([bids[0]?.[0], asks[0]?.[0]]);
  // A best price lies in the change that covers its id.
  for (const { u } of of("btcusdt@bookTicker")) {
    const covering = of("btcusdt@depth@100ms").filter(
      ({ U, u: last }) => Number(U) <= Number(u) && Number(u) <= Number(last),
    );
    expect(covering.length).toBe(1);
  }
  client.close();
});

test("a spot book by REST has no time, a futures book has", async () => {
  expect(Object.keys(await snapshotOf("SPOT", "BTCUSDT"))).toEqual(["lastUpdateId", "bids", "asks"]);
  expect(Object.keys(await snapshotOf("FUTURES", "BTCUSDT"))).toEqual([
    "lastUpdateId",
    "E",
    "T",
    "bids",
    "asks",
  ]);
});
