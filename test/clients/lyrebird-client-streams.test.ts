// The streams of the project's own client against the real program: their reports over broken connections, a
// stalled server, and a revoked key.
import { expect, test } from "vitest";
import {
  type Candle,
  LyrebirdClient,
  type LyrebirdStreamError,
  type OrderBook,
  type StreamState,
} from "../../clients/typescript/src/index.ts";
import { eventually } from "../support/eventually.ts";
import { FaultProxy } from "../support/servers/fault-proxy.ts";
import { type Credentials, runNode, startGateway } from "../support/servers/gateway.ts";
import { stayOnLoopback } from "../support/servers/loopback-only.ts";
import { seededGateway } from "../support/servers/seeded-gateway.ts";
import { send } from "../support/signed-client.ts";

stayOnLoopback();
const gateway = seededGateway(5);
/** What takes its time by design: candles of a second, silences of five, and coming back. */
const SLOW = { msMax: 30_000, askAgainMs: 20 };
const SECONDS = { pair: "BTCUSDT", timeframe: "1s" };

function clientOf(
  { apiKey, apiSecret }: Credentials,
  options: { streamUrl?: string; upstreamRestUrl?: string },
) {
  // Without spread at the upper side, so that it comes back soon.
  return new LyrebirdClient({ baseUrl: gateway.url, apiKey, apiSecret, random: () => 0, ...options });
}

/** Whether every element is greater than the one before. */
function isRising(values: readonly number[]): boolean {
  return values.every((value, index) => index === 0 || value > (values[index - 1] ?? value));
}

test("over two broken connections the finals are those of the exchange, once each, in order and without a gap", async () => {
  await using proxy = await FaultProxy.open(gateway.url);
  const client = clientOf(gateway.takeStrategy(), { streamUrl: proxy.url });
  const ticks: number[] = [];
  const finals: Candle[] = [];
  const states: StreamState[] = [];
  const candles = client.candles({
    onCandle: ({ startTime }) => ticks.push(startTime),
    onFinal: (candle) => finals.push(candle),
    onState: (state) => states.push(state),
  });
  candles.subscribe({ ...SECONDS, pair: "btcusdt" });
  for (const count of [2, 4]) {
    await eventually(`${count} finals`, () => finals.length >= count, SLOW);
    proxy.cut();
    await eventually("the connection is lost", () => states.at(-1) !== "CONNECTED", SLOW);
  }
  await eventually("6 finals", () => finals.length >= 6, SLOW);
  client.close();
  expect(states.filter((state) => state === "CONNECTED").length).toBeGreaterThanOrEqual(3);
  expect(ticks).toEqual([...ticks].sort((one, other) => one - other));

  const [first] = finals;
  const query = `symbol=BTCUSDT&interval=1s&startTime=${first?.startTime}&limit=${finals.length}`;
  const { body } = await send(gateway.url, "GET", `/api/v3/klines?${query}`);
  expect(finals).toEqual(
    body.map(([startTime, open, high, low, close, volume, closeTime]: readonly unknown[]) => ({
      ...{ open, high, low, close, volume, startTime, closeTime },
      isFinal: true,
    })),
  );
});

test("over a broken connection books go on by themselves, their ids rising on each connection", async () => {
  await using proxy = await FaultProxy.open(gateway.url);
  const client = clientOf(gateway.takeStrategy(), { streamUrl: proxy.url });
  let connections = 0;
  const books: (OrderBook & { connection: number })[] = [];
  const stream = client.orderBooks({
    onBook: (book) => books.push({ ...book, connection: connections }),
    onState: (state) => {
      if (state === "CONNECTED") connections += 1;
    },
  });
  const fast = stream.subscribe({ pair: "BTCUSDT", levels: 5, speed: "100ms" });
  const slow = stream.subscribe({ pair: "ETHUSDT" });
  const of = (pair: string, connection: number) =>
    books.filter((book) => book.pair === pair && book.connection === connection);
  for (const connection of [1, 2]) {
    const hasBooks = () => of(fast.pair, connection).length >= 5 && of(slow.pair, connection).length >= 1;
    await eventually(`books on connection ${connection}`, hasBooks, SLOW);
    if (connection === 1) proxy.cut();
  }
  expect(stream.book(fast)).toMatchObject({ ...fast, isStale: false, source: "STREAM" });
  client.close();
  for (const pair of [fast.pair, slow.pair]) {
    for (const connection of [1, 2]) {
      expect(isRising(of(pair, connection).map(({ lastUpdateId }) => lastUpdateId))).toBe(true);
    }
  }
  expect(of(fast.pair, 2)[0]).toMatchObject({ levels: 5, speed: "100ms" });
  expect(of(fast.pair, 2)[0]?.bids.length).toBe(5);
  expect(of(slow.pair, 2)[0]?.bids.length).toBe(20);
});

test("while the server is stalled the book comes from the upstream's REST route, and then from the stream again", async () => {
  const still = await startGateway();
  const { apiKey, apiSecret } = still.seed();
  const client = new LyrebirdClient({
    baseUrl: still.url,
    apiKey,
    apiSecret,
    upstreamRestUrl: gateway.url,
    random: () => 0,
  });
  const books: OrderBook[] = [];
  let staleCount = 0;
  const stream = client.orderBooks({
    onBook: (book) => books.push(book),
    onStale: () => {
      staleCount += 1;
    },
  });
  const topic = stream.subscribe({ pair: "BTCUSDT", levels: 10 });
  try {
    await eventually("a book", () => books.length > 0, SLOW);
    still.process.kill("SIGSTOP");
    await eventually("a book by REST", () => books.at(-1)?.source === "REST", SLOW);
    expect(staleCount).toBe(1);
    expect(books.at(-1)).toMatchObject({ ...topic, source: "REST" });
    expect(books.at(-1)?.asks.length).toBe(10);
    still.process.kill("SIGCONT");
    await eventually("a book by the stream", () => books.at(-1)?.source === "STREAM", SLOW);
    expect(stream.book(topic)?.isStale).toBe(false);
  } finally {
    still.process.kill("SIGCONT");
    client.close();
    await still.stop();
  }
});

test("a stream whose key is revoked ends permanently", async () => {
  const key = gateway.takeStrategy();
  const client = clientOf(key, {});
  const errors: LyrebirdStreamError[] = [];
  const stream = client.candles({ onError: (error) => errors.push(error) });
  stream.subscribe(SECONDS);
  await eventually("a candle", () => stream.candle(SECONDS) !== null, SLOW);
  runNode(["src/cli.ts", "keys", "revoke", key.apiKey, "--data", gateway.dataDir]);
  await eventually("it is refused", () => stream.state === "REFUSED", SLOW);
  expect(errors).toMatchObject([{ code: "AUTH_KEY_REVOKED", isFatal: true }]);
  client.close();
});

test("a wrong secret costs one failed handshake a stream, so the key is not blocked for its owner", async () => {
  const key = gateway.takeStrategy();
  const wrong = clientOf({ ...key, apiSecret: "0".repeat(64) }, {});
  const streams = [wrong.candles(), wrong.orderBooks()];
  await eventually("both are refused", () => streams.every(({ state }) => state === "REFUSED"), SLOW);
  const right = clientOf(key, {});
  const books = right.orderBooks();
  const topic = books.subscribe({ pair: "BTCUSDT" });
  await eventually("a book", () => books.book(topic) !== null, SLOW);
  wrong.close();
  right.close();
});

test("a topic that the server does not have is refused by name, and the other one streams", async () => {
  const client = clientOf(gateway.takeStrategy(), {});
  const errors: LyrebirdStreamError[] = [];
  const stream = client.candles({ onError: (error) => errors.push(error) });
  const unknown = { pair: "NOPE", timeframe: "1s" };
  stream.subscribe(unknown);
  stream.subscribe({ pair: "BTCUSDT", timeframe: "7m" });
  stream.subscribe(SECONDS);
  await eventually("a candle", () => stream.candle(SECONDS) !== null, SLOW);
  expect(errors).toMatchObject([
    { code: "SUB_UNSUPPORTED_SYMBOL", topic: unknown },
    { code: "SUB_UNSUPPORTED_TIMEFRAME", topic: { pair: "BTCUSDT", timeframe: "7m" } },
  ]);
  expect(stream.topics).toEqual([SECONDS]);
  client.close();
});
